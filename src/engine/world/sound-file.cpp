// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/world/sound-file.hpp"

#include "engine/base/descriptors.hpp"

#include <fcntl.h>
#include <sndfile.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>

namespace scs {

namespace {

// No format packs silence tighter than FLAC, which needs a byte for some 6000 frames. A header that claims more is
// wrong, and must not decide the size of an allocation.
constexpr int64_t frames_per_byte = 8192;

// libvorbis puts all that one call gives it on the stack, which a minute of sound overflows.
constexpr int64_t frames_a_write = 4096;

/// What 32 bits can tell of a file's size, less what its header needs.
constexpr int64_t most_bytes_of_32 = (int64_t(1) << 32) - (1 << 16);

struct Name {
    const char* text;
    int format;
};

constexpr Name header_names[] = {
    {"aiff", SF_FORMAT_AIFF},   {"aifc", SF_FORMAT_AIFF},   {"wav", SF_FORMAT_WAV}, {"wave", SF_FORMAT_WAV},
    {"riff", SF_FORMAT_WAV},    {"wavex", SF_FORMAT_WAVEX}, {"next", SF_FORMAT_AU}, {"sun", SF_FORMAT_AU},
    {"ircam", SF_FORMAT_IRCAM}, {"raw", SF_FORMAT_RAW},     {"caf", SF_FORMAT_CAF}, {"w64", SF_FORMAT_W64},
    {"rf64", SF_FORMAT_RF64},   {"flac", SF_FORMAT_FLAC},   {"ogg", SF_FORMAT_OGG}, {"mpeg", SF_FORMAT_MPEG},
    {"mat4", SF_FORMAT_MAT4},   {"mat5", SF_FORMAT_MAT5},   {"paf", SF_FORMAT_PAF}, {"svx", SF_FORMAT_SVX},
    {"nist", SF_FORMAT_NIST},   {"voc", SF_FORMAT_VOC},     {"pvf", SF_FORMAT_PVF}, {"xi", SF_FORMAT_XI},
    {"htk", SF_FORMAT_HTK},     {"sds", SF_FORMAT_SDS},     {"avr", SF_FORMAT_AVR}, {"sd2", SF_FORMAT_SD2},
};

constexpr Name sample_names[] = {
    {"int8", SF_FORMAT_PCM_S8},      {"uint8", SF_FORMAT_PCM_U8},      {"int16", SF_FORMAT_PCM_16},
    {"int24", SF_FORMAT_PCM_24},     {"int32", SF_FORMAT_PCM_32},      {"float", SF_FORMAT_FLOAT},
    {"double", SF_FORMAT_DOUBLE},    {"mulaw", SF_FORMAT_ULAW},        {"ulaw", SF_FORMAT_ULAW},
    {"alaw", SF_FORMAT_ALAW},        {"vorbis", SF_FORMAT_VORBIS},     {"opus", SF_FORMAT_OPUS},
    {"mp1", SF_FORMAT_MPEG_LAYER_I}, {"mp2", SF_FORMAT_MPEG_LAYER_II}, {"mp3", SF_FORMAT_MPEG_LAYER_III},
};

int find(std::span<const Name> names, std::string_view text) {
    for (const Name& name : names)
        if (text.size() == std::strlen(name.text) && strncasecmp(name.text, text.data(), text.size()) == 0)
            return name.format;
    return 0;
}

std::string listed(std::span<const Name> names) {
    std::string text;
    for (const Name& name : names)
        text += (text.empty() ? "" : ", ") + std::string(name.text);
    return text;
}

/// 0: it isn't known, as each is compressed.
int bytes_of_sample(int format) {
    switch (format & SF_FORMAT_SUBMASK) {
    case SF_FORMAT_PCM_16: return 2;
    case SF_FORMAT_PCM_24: return 3;
    case SF_FORMAT_PCM_32:
    case SF_FORMAT_FLOAT: return 4;
    case SF_FORMAT_DOUBLE: return 8;
    case SF_FORMAT_PCM_S8:
    case SF_FORMAT_PCM_U8:
    case SF_FORMAT_ULAW:
    case SF_FORMAT_ALAW: return 1;
    default: return 0;
    }
}

/// How many frames a file of the format may have.
int64_t most_frames(const SF_INFO& header) {
    const int bytes = bytes_of_sample(header.format);
    switch (header.format & SF_FORMAT_TYPEMASK) {
    case SF_FORMAT_W64:
    case SF_FORMAT_RF64:
    case SF_FORMAT_CAF:
    case SF_FORMAT_RAW: return INT64_MAX;
    default: return bytes ? most_bytes_of_32 / bytes / header.channels : INT64_MAX;
    }
}

/// The same as an RF64 file, for WAV files.
SF_INFO as_rf64(SF_INFO header) {
    const int type = header.format & SF_FORMAT_TYPEMASK;
    if (type == SF_FORMAT_WAV || type == SF_FORMAT_WAVEX)
        header.format = (header.format & SF_FORMAT_SUBMASK) | SF_FORMAT_RF64;
    return header;
}

SNDFILE* as_sndfile(void* handle) {
    return static_cast<SNDFILE*>(handle);
}

Error system_error() {
    return {std::string("System error : ") + std::strerror(errno) + "."}; // libsndfile's wording
}

/// Opens a regular file; `bytes` gets its size. A pipe or a device could block the worker for ever. libsndfile isn't
/// given the name, as it would take "-" for the daemon's standard input.
Result<Descriptor> open_regular(const FileOpener& open, int flags, int64_t& bytes) {
    Descriptor fd(open(flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    struct stat status;
    if (fd.get() < 0 || ::fstat(fd.get(), &status) < 0)
        return system_error();
    if (!leaves_descriptors(fd.get()))
        return Error{"too many files are open"};
    if (!S_ISREG(status.st_mode))
        return Error{"not a regular file"};
    bytes = status.st_size;
    return fd;
}

FileOpener opener_of(const std::string& path) {
    return [path](int flags) { return ::open(path.c_str(), flags, 0666); };
}

} // namespace

Result<int> sound_file_format(std::string_view header, std::string_view sample) {
    const int major = find(header_names, header);
    if (!major)
        return Error{"unsupported header format"};
    const int minor = find(sample_names, sample);
    if (!minor)
        return Error{"unsupported sample format"};
    return major | minor;
}

std::string sound_file_headers() {
    return listed(header_names);
}

std::string sound_file_samples() {
    return listed(sample_names);
}

Result<SoundFile> SoundFile::open(const std::string& path) {
    return open(opener_of(path));
}

Result<SoundFile> SoundFile::open(const FileOpener& opener) {
    int64_t bytes = 0;
    Result<Descriptor> fd = open_regular(opener, O_RDONLY, bytes);
    if (!fd)
        return Error{fd.error()};

    SF_INFO header{};
    Handle file(sf_open_fd(fd.value().take(), SFM_READ, &header, SF_TRUE));
    if (!file)
        return Error{sf_strerror(nullptr)};
    if (header.channels < 1 || header.frames < 0 || header.samplerate < 0)
        return Error{"the header makes no sense"};
    if (header.frames / frames_per_byte > bytes)
        return Error{"the header claims more frames than the file can hold"};
    return SoundFile(std::move(file), {header.frames, header.channels, double(header.samplerate)}, false);
}

Result<SoundFile> SoundFile::create(const std::string& path, int format, int channels, double rate, bool growing) {
    return create(opener_of(path), format, channels, rate, growing);
}

Result<SoundFile> SoundFile::create(const FileOpener& opener, int format, int channels, double rate, bool growing) {
    if (!(rate >= 1 && rate < 2147483648.0))
        return Error{"the sample rate is out of range"};
    SF_INFO header{};
    header.format = format;
    header.channels = channels;
    header.samplerate = int(rate);
    if (!sf_format_check(&header))
        return Error{"the header format can't hold this sample format or number of channels"};

    const SF_INFO as_large = as_rf64(header);
    const bool becomes_rf64 = growing && as_large.format != header.format && sf_format_check(&as_large);
    if (becomes_rf64)
        header = as_large;

    int64_t bytes = 0;
    Result<Descriptor> fd = open_regular(opener, O_WRONLY | O_CREAT, bytes);
    if (!fd)
        return Error{fd.error()};
    if (::ftruncate(fd.value().get(), 0) < 0)
        return system_error();

    Handle file(sf_open_fd(fd.value().take(), SFM_WRITE, &header, SF_TRUE));
    if (!file)
        return Error{sf_strerror(nullptr)};
    sf_command(as_sndfile(file.get()), SFC_SET_CLIPPING, nullptr, SF_TRUE);
    if (becomes_rf64)
        sf_command(as_sndfile(file.get()), SFC_RF64_AUTO_DOWNGRADE, nullptr, SF_TRUE);
    return SoundFile(std::move(file), {0, channels, double(header.samplerate)}, true, most_frames(header));
}

int64_t SoundFile::read(int64_t start, int64_t frames, float* out) noexcept {
    start = std::clamp<int64_t>(start, 0, info_.frames);
    frames = std::clamp<int64_t>(frames, 0, info_.frames - start);
    if (sf_seek(as_sndfile(file_.get()), start, SEEK_SET) != start)
        return 0;
    return std::max<int64_t>(0, sf_readf_float(as_sndfile(file_.get()), out, frames));
}

int64_t SoundFile::read_on(int64_t frames, float* out) noexcept {
    return writes_ ? 0 : std::max<int64_t>(0, sf_readf_float(as_sndfile(file_.get()), out, frames));
}

bool SoundFile::rewind() noexcept {
    return !writes_ && sf_seek(as_sndfile(file_.get()), 0, SEEK_SET) == 0;
}

Result<int64_t> SoundFile::write(const float* in, int64_t frames) {
    if (!writes_)
        return Error{"the file is open for reading"};
    for (int64_t done = 0; done < frames;) {
        const int64_t piece = std::min({frames - done, frames_a_write, most_frames_ - info_.frames});
        if (piece == 0)
            return Error{
                "files of this format hold 4 GB at most; those of caf, w64 and rf64, and recordings as wav, more"};
        const int64_t written = sf_writef_float(as_sndfile(file_.get()), in + done * info_.channels, piece);
        done += std::max<int64_t>(0, written);
        info_.frames += std::max<int64_t>(0, written);
        if (written != piece) {
            const Error error{sf_strerror(as_sndfile(file_.get()))};
            // What is left of a frame would shift all that follow.
            sf_command(as_sndfile(file_.get()), SFC_FILE_TRUNCATE, &info_.frames, sizeof info_.frames);
            return error;
        }
    }
    return frames;
}

void SoundFile::update_header() noexcept {
    if (writes_)
        sf_command(as_sndfile(file_.get()), SFC_UPDATE_HEADER_NOW, nullptr, 0);
}

Result<int64_t> SoundFile::close() {
    if (const int code = file_ ? sf_close(as_sndfile(file_.release())) : 0)
        return Error{sf_error_number(code)};
    return info_.frames;
}

void SoundFile::Closer::operator()(void* handle) const noexcept {
    sf_close(as_sndfile(handle));
}

} // namespace scs
