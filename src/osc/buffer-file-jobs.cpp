// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/plugins/plugin-outlet.hpp"
#include "engine/world/streams.hpp"
#include "osc/buffer-jobs.hpp"
#include "osc/codec/compose.hpp"
#include "osc/file-access.hpp"
#include "osc/reply-to.hpp"
#include "osc/server.hpp"

#include <algorithm>
#include <atomic>

namespace scs::osc {

namespace {

std::string file_failure(std::string_view path, const char* what, const std::string& why) {
    return "File '" + std::string(path) + "' could not be " + what + ": " + why + "\n";
}

constexpr const char* access_denied = "access denied";

/// The channel list of the "Channel" commands: all ints up to the next argument of another type.
std::vector<int32_t> get_channels(ArgReader& args) {
    std::vector<int32_t> channels;
    while (args.tag() == 'i')
        channels.push_back(args.get_int());
    return channels;
}

Result<SoundFile> open_file(const FileSelection& wanted, const std::string& restricted) {
    const FileAccess access(restricted);
    bool denied = false;
    Result<SoundFile> file = SoundFile::open([&](int flags) { return access.open(wanted.path, flags, denied); });
    if (!file)
        return Error{denied ? access_denied : file_failure(wanted.path, "opened", file.error())};
    for (const int32_t channel : wanted.channels)
        if (channel >= file.value().info().channels)
            return Error{"Channel index out of range.\n"};
    return file;
}

/// Clips what is wanted to the frames that the file has.
void clip(FileSelection& wanted, const SoundFileInfo& info) {
    wanted.start = std::clamp<int64_t>(wanted.start, 0, info.frames);
    if (wanted.frames < 0 || wanted.frames > info.frames - wanted.start)
        wanted.frames = info.frames - wanted.start;
}

/// Reads a clipped selection to `out`, interleaved. Frames that a damaged file lacks are not written to. Returns how
/// many there were.
int64_t read_frames(SoundFile& file, const FileSelection& wanted, float* out) {
    if (wanted.channels.empty())
        return file.read(wanted.start, wanted.frames, out);
    constexpr int64_t chunk_frames = 4096;
    const auto width = size_t(file.info().channels);
    std::vector<float> chunk(chunk_frames * width);
    int64_t done = 0;
    while (done < wanted.frames) {
        const int64_t frames =
            file.read(wanted.start + done, std::min(chunk_frames, wanted.frames - done), chunk.data());
        if (frames == 0)
            break;
        for (int64_t frame = 0; frame < frames; ++frame)
            for (const int32_t channel : wanted.channels) {
                const float value = channel < 0 ? 0 : chunk[size_t(frame) * width + size_t(channel)];
                std::atomic_ref(*out++).store(value, std::memory_order_relaxed);
            }
        done += frames;
    }
    return done;
}

StreamedSamples streamed(const Buffer& buffer, double rate) {
    return {buffer.data, buffer.frames, buffer.channels, rate};
}

/// Tells the client that began a recording why it isn't whole: as the /fail that /b_write would have been.
FileStream::Failed tell_of_write(const ReplyTo& to, std::string path, int32_t buffer) {
    return [to, path = std::move(path), buffer](const std::string& why) {
        const std::string text = file_failure(path, "written", why);
        const ReplyArg args[] = {std::string_view("/b_write"), std::string_view(text), buffer};
        ReplyComposer composer;
        if (const auto packet = composer.compose("/fail", args))
            (void)PluginOutlet::send(to.outlet, to.client, packet.value());
    };
}

int32_t channels_of(const SoundFile& file, const FileSelection& wanted) {
    return wanted.channels.empty() ? file.info().channels : int32_t(wanted.channels.size());
}

} // namespace

template <bool some_channels>
AllocReadBuffer<some_channels>::AllocReadBuffer(CommandInit&& init) : BufferJob(std::move(init)) {
    file_.path = rest_.get_string();
    file_.start = rest_.get_int();
    file_.frames = rest_.get_int();
    if (file_.frames == 0)
        file_.frames = -1;
    if (some_channels)
        file_.channels = get_channels(rest_);
    take_completion(rest_);
}

template <bool some_channels>
void AllocReadBuffer<some_channels>::do_work() {
    Result<SoundFile> file = open_file(file_, services().settings.restricted_path);
    if (!file)
        return fail(file.error());
    clip(file_, file.value().info());
    const int32_t channels = channels_of(file.value(), file_);
    Result<Samples> data = allocate_buffer(services(), file_.frames, channels);
    if (!data)
        return fail(file_failure(file_.path, "read", data.error()));
    read_frames(file.value(), file_, data.value().get());
    publish({data.value().release(), int32_t(file_.frames), channels, file.value().info().rate, nullptr});
}

template <bool some_channels>
ReadBuffer<some_channels>::ReadBuffer(CommandInit&& init) : BufferJob(std::move(init)) {
    file_.path = rest_.get_string();
    file_.start = rest_.get_int();
    file_.frames = rest_.get_int(-1);
    buffer_start_ = rest_.get_int();
    leave_open_ = rest_.get_int() != 0;
    if (some_channels)
        file_.channels = get_channels(rest_);
    take_completion(rest_);
    if (buffer_start_ < 0)
        reject({Code::index_out_of_range});
}

template <bool some_channels>
void ReadBuffer<some_channels>::do_work() {
    if (lacks_samples())
        return;
    Buffer buffer = latest();
    const int64_t room = int64_t(buffer.frames) - buffer_start_;
    if (room <= 0)
        return; // done, says scsynth

    Result<SoundFile> file = open_file(file_, services().settings.restricted_path);
    if (!file)
        return fail(file.error());
    // DiskIn reads all of the file's channels, so a file that stays open must match even when some were chosen.
    for (const int32_t channels :
         {channels_of(file.value(), file_), leave_open_ ? file.value().info().channels : buffer.channels})
        if (channels != buffer.channels)
            return fail("Channel mismatch. File '" + std::string(file_.path) + "' has " + std::to_string(channels) +
                        " channels. Buffer has " + std::to_string(buffer.channels) + " channels.\n");

    clip(file_, file.value().info());
    file_.frames = std::min(file_.frames, room);
    close_stream(); // before the buffer is filled anew
    buffer = latest();
    const int64_t read = read_frames(file.value(), file_, buffer.data + int64_t(buffer_start_) * buffer.channels);
    const SoundFileInfo info = file.value().info();
    buffer.sample_rate = info.rate;
    if (leave_open_) {
        std::optional<int32_t> whole;
        if (read == info.frames && read < buffer.frames && buffer_start_ == 0 && file_.channels.empty())
            whole = int32_t(read);
        buffer.stream =
            engine().buffers().streams().add(std::move(file.value()), streamed(buffer, engine_rate()), whole);
    }
    publish(buffer);
}

WriteBuffer::WriteBuffer(CommandInit&& init) : BufferJob(std::move(init)) {
    path_ = rest_.get_string();
    const std::string_view header = rest_.get_string("aiff");
    const Result<int> format = sound_file_format(header, rest_.get_string("int16"));
    frames_ = rest_.get_int(-1);
    start_ = rest_.get_int();
    leave_open_ = rest_.get_int() != 0;
    take_completion(rest_);
    if (start_ < 0)
        reject({Code::index_out_of_range});
    if (format)
        format_ = format.value();
    else
        fail(format.error());
}

void WriteBuffer::do_work() {
    if (lacks_samples())
        return;
    const FileAccess access(services().settings.restricted_path);
    bool denied = false;
    Buffer buffer = latest();
    Result<SoundFile> file = SoundFile::create([&](int flags) { return access.open(path_, flags, denied); }, format_,
                                               buffer.channels, buffer.sample_rate, leave_open_);
    if (!file)
        return fail(denied ? access_denied : file_failure(path_, "opened", file.error()));

    const int64_t room = std::max<int64_t>(0, buffer.frames - start_);
    const int64_t frames = frames_ < 0 ? room : std::min(frames_, room);
    if (frames > 0)
        if (const auto written = file.value().write(buffer.data + start_ * buffer.channels, frames); !written)
            return fail(file_failure(path_, "written", written.error()));
    if (!leave_open_)
        if (const auto closed = file.value().close(); !closed)
            return fail(file_failure(path_, "written", closed.error()));
    close_stream();
    buffer.stream = leave_open_
                        ? engine().buffers().streams().add(
                              std::move(file.value()), streamed(buffer, engine_rate()), {},
                              tell_of_write(to_reply_to(from(), services().outlet), std::string(path_), index()))
                        : nullptr;
    publish(buffer);
}

template class AllocReadBuffer<false>;
template class AllocReadBuffer<true>;
template class ReadBuffer<false>;
template class ReadBuffer<true>;

} // namespace scs::osc
