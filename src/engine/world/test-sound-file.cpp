// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/world/sound-file.hpp"
#include "engine/world/test-file-size-limit.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sndfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <vector>

using namespace scs;
namespace fs = std::filesystem;

namespace {

int sparse_file = -1; ///< a descriptor

} // namespace

/// In place of the C library's, for libsndfile too: what is all zeros leaves a hole in the file of that descriptor, so
/// that files of many gigabytes need neither time nor room.
extern "C" [[gnu::visibility("default")]] ssize_t write(int fd, const void* data, size_t bytes) {
    const auto* const first = static_cast<const char*>(data);
    if (fd == sparse_file && bytes > 0 && first[0] == 0 && std::memcmp(first, first + 1, bytes - 1) == 0)
        return lseek(fd, off_t(bytes), SEEK_CUR) < 0 ? -1 : ssize_t(bytes);
    return syscall(SYS_write, fd, data, bytes);
}

namespace {

/// A folder that is removed after the test.
struct Folder {
    fs::path path;
    Folder() {
        std::string name = (fs::temp_directory_path() / "sound-file-XXXXXX").string();
        path = mkdtemp(name.data());
    }
    ~Folder() { fs::remove_all(path); }
    std::string operator/(const char* name) const { return (path / name).string(); }
};

/// Multiples of 2^-7 below 1, which every sample format but the logarithmic ones holds exactly.
std::vector<float> ramp(int frames, int channels) {
    std::vector<float> samples;
    for (int frame = 0; frame < frames; ++frame)
        for (int channel = 0; channel < channels; ++channel)
            samples.push_back(float((frame * 3 + channel * 17) % 255 - 127) / 128.f);
    return samples;
}

void write_file(const std::string& path, const char* header, const char* sample, const std::vector<float>& samples,
                int channels, double rate = 44100) {
    auto format = sound_file_format(header, sample);
    REQUIRE(format);
    auto file = SoundFile::create(path, format.value(), channels, rate);
    REQUIRE_MESSAGE(file, header, " ", sample);
    REQUIRE(file.value().write(samples.data(), int64_t(samples.size()) / channels));
    REQUIRE(file.value().close());
}

void write_bytes(const std::string& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
}

std::string read_bytes(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

std::string error_of(const std::string& path) {
    auto file = SoundFile::open(path);
    return file ? "opened" : file.error();
}

} // namespace

TEST_CASE("format names are scsynth's, in any case") {
    CHECK(sound_file_format("aiff", "int16").value() == (SF_FORMAT_AIFF | SF_FORMAT_PCM_16));
    CHECK(sound_file_format("NeXT", "Mulaw").value() == (SF_FORMAT_AU | SF_FORMAT_ULAW));
    CHECK(sound_file_format("Sun", "ulaw").value() == (SF_FORMAT_AU | SF_FORMAT_ULAW));
    CHECK(sound_file_format("riff", "float").value() == (SF_FORMAT_WAV | SF_FORMAT_FLOAT));
    CHECK(sound_file_format("wa", "int16").error() == "unsupported header format");
    CHECK(sound_file_format("", "int16").error() == "unsupported header format");
    CHECK(sound_file_format("wav", "int").error() == "unsupported sample format");
    CHECK(sound_file_format("wav", "int160").error() == "unsupported sample format");
    CHECK(sound_file_headers().starts_with("aiff, aifc, wav, "));
    CHECK(sound_file_headers().ends_with(", sd2"));
    CHECK(sound_file_samples().starts_with("int8, uint8, int16, "));
    CHECK(sound_file_samples().ends_with(", mp3"));
}

TEST_CASE("what is written is read back") {
    struct Case {
        const char *header, *sample;
        float tolerance;
    };
    const Case cases[] = {{"aiff", "int16", 0},  {"aiff", "int8", 0},      {"aiff", "float", 0}, {"wav", "uint8", 0},
                          {"wav", "int24", 0},   {"wav", "int32", 0},      {"wav", "double", 0}, {"next", "float", 0},
                          {"sun", "alaw", .04f}, {"ircam", "float", 0},    {"caf", "int24", 0},  {"w64", "float", 0},
                          {"rf64", "float", 0},  {"wavex", "mulaw", .04f}, {"flac", "int16", 0}, {"voc", "int16", 0},
                          {"ogg", "vorbis", .7f}};
    Folder folder;
    for (const Case& c : cases) {
        CAPTURE(c.header);
        CAPTURE(c.sample);
        const auto samples = ramp(1000, 2);
        write_file(folder / "a", c.header, c.sample, samples, 2);
        auto file = SoundFile::open(folder / "a");
        REQUIRE(file);
        CHECK(file.value().info().frames == 1000);
        CHECK(file.value().info().channels == 2);
        CHECK(file.value().info().rate == 44100);
        std::vector<float> read(2000, 9.f);
        CHECK(file.value().read(0, 1000, read.data()) == 1000);
        float worst = 0;
        for (size_t i = 0; i < read.size(); ++i)
            worst = std::max(worst, std::fabs(read[i] - samples[i]));
        CHECK(worst <= c.tolerance);
    }
}

TEST_CASE("a range is clipped to the file") {
    Folder folder;
    const auto samples = ramp(100, 3);
    write_file(folder / "a.wav", "wav", "float", samples, 3);
    auto file = SoundFile::open(folder / "a.wav");
    REQUIRE(file);
    std::vector<float> read(33, 9.f);

    CHECK(file.value().read(40, 10, read.data()) == 10);
    CHECK(read[0] == samples[120]);
    CHECK(read[29] == samples[149]);
    CHECK(read[30] == 9.f);

    CHECK(file.value().read(95, 1000, read.data()) == 5);
    CHECK(read[14] == samples[299]);
    CHECK(file.value().read(-7, 1, read.data()) == 1);
    CHECK(read[0] == samples[0]);
    CHECK(file.value().read(100, 1, read.data()) == 0);
    CHECK(file.value().read(INT64_MAX, INT64_MAX, read.data()) == 0);
    CHECK(file.value().read(0, -1, read.data()) == 0);
}

TEST_CASE("integer formats clip instead of wrapping") {
    Folder folder;
    write_file(folder / "a.wav", "wav", "int16", {2.f, -3.f}, 1);
    auto file = SoundFile::open(folder / "a.wav");
    REQUIRE(file);
    std::array<float, 2> read{};
    file.value().read(0, 2, read.data());
    CHECK(read[0] > 0.99f);
    CHECK(read[1] < -0.99f);
}

TEST_CASE("a file that can't be made leaves what was there") {
    Folder folder;
    write_bytes(folder / "old", "precious");
    const int flac = sound_file_format("flac", "int16").value();
    const int wav = sound_file_format("wav", "int16").value();
    CHECK_FALSE(SoundFile::create(folder / "old", flac, 9, 44100));
    CHECK_FALSE(SoundFile::create(folder / "old", sound_file_format("flac", "float").value(), 1, 44100));
    for (int channels : {0, -1, 1 << 20})
        CHECK_FALSE(SoundFile::create(folder / "old", wav, channels, 44100));
    for (double rate : {0., -1., 1e300, std::nan("")})
        CHECK(SoundFile::create(folder / "old", wav, 1, rate).error() == "the sample rate is out of range");
    CHECK(read_bytes(folder / "old") == "precious");

    CHECK(SoundFile::create(folder / "none/a.wav", wav, 1, 44100).error() ==
          "System error : No such file or directory.");
    CHECK(SoundFile::create(folder.path.string(), wav, 1, 44100).error() == "System error : Is a directory.");
    CHECK(SoundFile::create("/dev/full", wav, 1, 44100).error() == "not a regular file");
}

TEST_CASE("writing over a longer file leaves none of it") {
    Folder folder;
    write_file(folder / "a.wav", "wav", "float", ramp(1000, 1), 1);
    write_file(folder / "a.wav", "wav", "float", ramp(10, 1), 1);
    CHECK(SoundFile::open(folder / "a.wav").value().info().frames == 10);
    CHECK(fs::file_size(folder / "a.wav") < 200);
}

TEST_CASE("what is no sound file gives a text") {
    Folder folder;
    CHECK(error_of(folder / "none") == "System error : No such file or directory.");
    CHECK(error_of("") == "System error : No such file or directory.");
    CHECK(error_of("-") == "System error : No such file or directory.");
    CHECK(error_of(folder.path.string()) == "not a regular file");
    REQUIRE(mkfifo((folder / "fifo").c_str(), 0600) == 0);
    CHECK(error_of(folder / "fifo") == "not a regular file");
    CHECK(error_of("/dev/zero") == "not a regular file");
    write_bytes(folder / "empty", "");
    CHECK(error_of(folder / "empty") != "opened");
    write_bytes(folder / "text", "this is no sound");
    CHECK(error_of(folder / "text") == "Format not recognised.");
}

TEST_CASE("a header's lies are refused") {
    Folder folder;
    write_file(folder / "a.flac", "flac", "int16", ramp(100, 1), 1);
    std::string bytes = read_bytes(folder / "a.flac");
    bytes[21] |= '\x0f'; // the 36-bit number of frames: its upper 4 bits, then 32
    bytes[22] = '\x7f';
    write_bytes(folder / "a.flac", bytes);
    CHECK(error_of(folder / "a.flac") == "the header claims more frames than the file can hold");

    write_file(folder / "b.wav", "wav", "int16", ramp(100, 1), 1);
    bytes = read_bytes(folder / "b.wav");
    for (int channels : {0, 0xffff}) {
        bytes[22] = char(channels);
        bytes[23] = char(channels >> 8);
        write_bytes(folder / "b.wav", bytes);
        CHECK(error_of(folder / "b.wav") != "opened");
    }
}

TEST_CASE("a truncated file gives what it has") {
    Folder folder;
    write_file(folder / "a.flac", "flac", "int16", ramp(50000, 1), 1);
    fs::resize_file(folder / "a.flac", fs::file_size(folder / "a.flac") / 2);
    auto file = SoundFile::open(folder / "a.flac");
    REQUIRE(file);
    CHECK(file.value().info().frames == 50000);
    std::vector<float> read(50000, 0.f);
    const int64_t frames = file.value().read(0, 50000, read.data());
    CHECK(frames > 0);
    CHECK(frames < 50000);
    CHECK(read[1] == ramp(2, 1)[1]);
}

TEST_CASE("damaged files of every format are read or refused") {
    Folder folder;
    std::mt19937 random(1);
    const std::array<const char*, 2> formats[] = {{"wav", "int16"},   {"aiff", "float"}, {"caf", "int24"},
                                                  {"flac", "int16"},  {"w64", "float"},  {"rf64", "double"},
                                                  {"ogg", "vorbis"},  {"voc", "int16"},  {"next", "mulaw"},
                                                  {"mat5", "double"}, {"paf", "int16"},  {"ogg", "opus"}};
    for (auto [header, sample] : formats) {
        write_file(folder / "a", header, sample, ramp(300, 2), 2, 48000);
        const std::string whole = read_bytes(folder / "a");
        for (int round = 0; round < 200; ++round) {
            std::string bytes = whole;
            for (int n = 1 + int(random() % 4); n > 0; --n)
                bytes[random() % std::min<size_t>(bytes.size(), 200)] = char(random());
            if (round % 4 == 0)
                bytes.resize(random() % bytes.size());
            write_bytes(folder / "b", bytes);
            auto file = SoundFile::open(folder / "b");
            if (!file)
                continue;
            const SoundFileInfo info = file.value().info();
            REQUIRE(info.channels >= 1);
            REQUIRE(info.channels <= 1024);
            REQUIRE(info.frames >= 0);
            REQUIRE(info.frames / 8192 <= int64_t(bytes.size()));
            const int64_t wanted = std::min<int64_t>(info.frames, 100000 / info.channels);
            std::vector<float> read(size_t(wanted * info.channels));
            REQUIRE(file.value().read(0, wanted, read.data()) <= wanted);
        }
    }
}

TEST_CASE("files from another program") {
    Folder folder;
    if (std::system("sox --version > /dev/null 2>&1") != 0)
        return;
    for (const char* name : {"s.wav", "s.aiff", "s.au", "s.flac", "s.caf", "s.w64"}) {
        CAPTURE(name);
        const std::string path = folder / name;
        REQUIRE(std::system(("sox -n -r 22050 -c 2 -b 16 " + path + " synth 0.5 sine 441 vol 0.5").c_str()) == 0);
        auto file = SoundFile::open(path);
        REQUIRE(file);
        CHECK(file.value().info().frames == 11025);
        CHECK(file.value().info().channels == 2);
        CHECK(file.value().info().rate == 22050);
        std::vector<float> read(200);
        REQUIRE(file.value().read(0, 100, read.data()) == 100);
        for (int frame = 0; frame < 100; ++frame)
            CHECK(std::fabs(read[size_t(frame) * 2 + 1] - 0.5 * std::sin(frame * M_PI / 25)) < 1e-2);
    }
}

TEST_CASE("a file is read on from where the last read ended, and again from its start") {
    Folder folder;
    const auto samples = ramp(100, 1);
    write_file(folder / "a.wav", "wav", "float", samples, 1);
    auto file = SoundFile::open(folder / "a.wav");
    REQUIRE(file);
    std::array<float, 200> read{};
    file.value().read(9, 1, read.data());
    CHECK(file.value().read_on(2, read.data()) == 2);
    CHECK(read[1] == samples[11]);
    CHECK(file.value().read_on(200, read.data()) == 88);
    CHECK(read[87] == samples[99]);
    CHECK(file.value().read_on(1, read.data()) == 0);
    CHECK(file.value().rewind());
    CHECK(file.value().read_on(1, read.data()) == 1);
    CHECK(read[0] == samples[0]);
    CHECK_FALSE(file.value().write(samples.data(), 1));
}

TEST_CASE("a file that is written can't be read on") {
    Folder folder;
    const auto samples = ramp(10, 1);
    auto made = SoundFile::create(folder / "b.wav", sound_file_format("wav", "float").value(), 1, 48000);
    REQUIRE(made);
    REQUIRE(made.value().write(samples.data(), 5));
    float sample = 0;
    CHECK(made.value().read_on(1, &sample) == 0);
    CHECK_FALSE(made.value().rewind()); // which would move the place that it writes to
    REQUIRE(made.value().write(samples.data() + 5, 5));
    REQUIRE(made.value().close());
    auto file = SoundFile::open(folder / "b.wav");
    REQUIRE(file);
    std::array<float, 10> read{};
    CHECK(file.value().read(0, 10, read.data()) == 10);
    CHECK(std::equal(read.begin(), read.end(), samples.begin()));
}

// ---- long files and full disks

namespace {

/// Writes silence until the file has that many frames, by a hole.
void write_silence(SoundFile& file, int64_t frames) {
    const std::vector<float> silence(size_t(1 << 16) * size_t(file.info().channels));
    while (file.info().frames < frames)
        REQUIRE(file.write(silence.data(), std::min<int64_t>(1 << 16, frames - file.info().frames)));
}

/// A file of which silence is a hole.
Result<SoundFile> create_sparse(const std::string& path, const char* header, int channels, bool growing) {
    const auto opener = [&](int flags) { return sparse_file = ::open(path.c_str(), flags, 0600); };
    return SoundFile::create(opener, sound_file_format(header, "double").value(), channels, 48000, growing);
}

constexpr int64_t frames_of_4_gb = (int64_t(1) << 32) / int64_t(sizeof(double));

} // namespace

TEST_CASE("what was written before the disk was full stays, in whole frames, and more may follow") {
    const Folder folder;
    const auto samples = ramp(20'000, 3);
    const std::pair<const char*, const char*> formats[] = {{"wav", "int24"}, {"aiff", "int16"}, {"w64", "float"},
                                                           {"caf", "float"}, {"rf64", "int24"}, {"next", "int16"},
                                                           {"wav", "float"}};
    for (const auto& format : formats)
        for (const bool growing : {false, true}) {
            CAPTURE(format.first);
            CAPTURE(growing);
            auto made = SoundFile::create(folder / "a", sound_file_format(format.first, format.second).value(), 3,
                                          48000, growing);
            REQUIRE(made);
            SoundFile& file = made.value();
            int64_t kept = 0;
            {
                const FileSizeLimit limit(50'001);
                CHECK(file.write(samples.data(), 20'000).error() == "System error : File too large.");
                kept = file.info().frames;
                CHECK(kept > 1000);
                CHECK_FALSE(file.write(samples.data(), 20'000));
                CHECK(file.info().frames == kept);
                file.update_header();
                auto read = SoundFile::open(folder / "a");
                REQUIRE_MESSAGE(read, read.error());
                CHECK(read.value().info().frames == kept);
            }
            REQUIRE(file.write(samples.data() + kept * 3, 20'000 - kept));
            REQUIRE(file.close());
            auto read = SoundFile::open(folder / "a");
            REQUIRE(read);
            CHECK(read.value().info().frames == 20'000);
            std::vector<float> found(samples.size());
            CHECK(read.value().read(0, 20'000, found.data()) == 20'000);
            CHECK(found == samples);
        }
}

TEST_CASE("a file that is closed while the disk is full has its header") {
    const Folder folder;
    const auto samples = ramp(20'000, 2);
    for (const char* header : {"wav", "aiff", "w64", "caf", "rf64"}) {
        CAPTURE(header);
        int64_t kept = 0;
        {
            const FileSizeLimit limit(40'003);
            auto made = SoundFile::create(folder / "a", sound_file_format(header, "float").value(), 2, 48000, true);
            REQUIRE(made);
            CHECK_FALSE(made.value().write(samples.data(), 20'000));
            kept = made.value().info().frames;
        } // as a server does that ends
        auto read = SoundFile::open(folder / "a");
        REQUIRE_MESSAGE(read, read.error());
        CHECK(read.value().info().frames == kept);
        std::vector<float> found(size_t(kept) * 2);
        CHECK(read.value().read(0, kept, found.data()) == kept);
        CHECK(std::equal(found.begin(), found.end(), samples.begin()));
    }
}

TEST_CASE("a recording beyond 4 GB is whole, also one that was asked for as WAV") {
    const Folder folder;
    const float mark[] = {0.25f, -0.5f};
    for (const char* header : {"wav", "w64", "caf"}) {
        CAPTURE(header);
        auto made = create_sparse(folder / "a", header, 1, true);
        REQUIRE(made);
        write_silence(made.value(), 998);
        REQUIRE(made.value().write(mark, 2));
        made.value().update_header();
        CHECK(SoundFile::open(folder / "a").value().info().frames == 1000);
        write_silence(made.value(), frames_of_4_gb + 1000);
        REQUIRE(made.value().write(mark, 2));
        REQUIRE(made.value().close());
        sparse_file = -1;
        auto read = SoundFile::open(folder / "a");
        REQUIRE_MESSAGE(read, read.error());
        REQUIRE(read.value().info().frames == frames_of_4_gb + 1002);
        float found[3];
        CHECK(read.value().read(frames_of_4_gb + 999, 3, found) == 3);
        CHECK(found[0] == 0.f);
        CHECK(found[1] == mark[0]);
        CHECK(found[2] == mark[1]);
    }
}

TEST_CASE("a recording below 4 GB that was asked for as WAV is one") {
    const Folder folder;
    auto made = SoundFile::create(folder / "a", sound_file_format("wav", "int16").value(), 2, 44100, true);
    REQUIRE(made);
    const auto samples = ramp(1000, 2);
    REQUIRE(made.value().write(samples.data(), 1000));
    REQUIRE(made.value().close());
    CHECK(read_bytes(folder / "a").starts_with("RIFF"));
    auto read = SoundFile::open(folder / "a");
    CHECK(read.value().info().frames == 1000);
    CHECK(read.value().info().rate == 44100);
}

TEST_CASE("a format whose header can't tell of more ends at 4 GB, whole") {
    const Folder folder;
    const float mark[] = {0.25f, -0.5f};
    for (const char* header : {"aiff", "next"}) {
        CAPTURE(header);
        auto made = create_sparse(folder / "a", header, 1, true);
        REQUIRE(made);
        const int64_t most = frames_of_4_gb - (1 << 16) / int64_t(sizeof(double));
        write_silence(made.value(), most - 1);
        CHECK(made.value().write(mark, 2).error().find("hold 4 GB at most") != std::string::npos);
        CHECK(made.value().info().frames == most);
        REQUIRE(made.value().close());
        sparse_file = -1;
        auto read = SoundFile::open(folder / "a");
        REQUIRE_MESSAGE(read, read.error());
        CHECK(read.value().info().frames == most);
        float found = 0;
        CHECK(read.value().read(most - 1, 1, &found) == 1);
        CHECK(found == mark[0]);
    }
}
