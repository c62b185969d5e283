// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/score-file.hpp"

#include "dict.hpp"
#include "engine/world/sound-file.hpp"
#include "osc/offline.hpp"
#include "settings.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>

namespace scs::cli {

namespace {

constexpr int64_t frames_at_once = 8192; ///< read and written

struct CloseFile {
    void operator()(std::FILE* file) const {
        if (file != stdin)
            std::fclose(file);
    }
};

Result<std::vector<std::byte>> read_all(const std::string& path) {
    const std::unique_ptr<std::FILE, CloseFile> file(path == "_" ? stdin : std::fopen(path.c_str(), "rb"));
    std::vector<std::byte> bytes;
    std::byte piece[65536];
    while (file) {
        const size_t count = std::fread(piece, 1, sizeof(piece), file.get());
        bytes.insert(bytes.end(), piece, piece + count);
        if (count < sizeof(piece))
            break;
    }
    if (!file || std::ferror(file.get()))
        return Error{path + ": " + std::strerror(errno)};
    return bytes;
}

/// Shows how far the rendering is, in one line of the terminal that is overwritten each time.
class ProgressLine {
public:
    ProgressLine(double total_seconds, double rate) : total_(total_seconds), rate_(rate) {}
    ProgressLine(const ProgressLine&) = delete;
    ~ProgressLine() {
        if (shown_)
            std::fputc('\n', stderr);
    }

    void show(uint64_t frames) {
        if (!terminal_)
            return;
        std::fprintf(stderr, "\r%.1f s of %.1f s", double(frames) / rate_, total_);
        shown_ = true;
    }

private:
    double total_, rate_;
    bool terminal_ = isatty(STDERR_FILENO), shown_ = false;
};

/// The input file as blocks of channels; silence after its end.
class Input {
public:
    explicit Input(SoundFile file) : file_(std::move(file)), samples_(size_t(frames_at_once) * channels()) {}

    void read(float* const* to, int frames) {
        for (int i = 0; i < frames; ++i) {
            if (next_ == end_)
                refill();
            for (size_t c = 0; c < channels(); ++c)
                to[c][i] = samples_[size_t(next_) * channels() + c];
            ++next_;
        }
    }

private:
    size_t channels() const { return size_t(file_.info().channels); }

    void refill() {
        std::fill(samples_.begin(), samples_.end(), 0.f);
        position_ += file_.read(position_, frames_at_once, samples_.data());
        next_ = 0;
        end_ = frames_at_once;
    }

    SoundFile file_;
    std::vector<float> samples_;
    int64_t position_ = 0, next_ = 0, end_ = 0;
};

/// Collects blocks of channels and writes them in larger pieces. Without a file it drops them.
class Output {
public:
    Output(std::optional<SoundFile> file, int channels) : file_(std::move(file)), channels_(channels) {}

    /// False on an error.
    bool write(const float* const* from, int frames) {
        const auto channels = size_t(channels_);
        samples_.resize(samples_.size() + size_t(frames) * channels);
        for (size_t c = 0; c < channels; ++c) {
            float* const to = samples_.data() + size_t(frames_) * channels + c;
            for (int i = 0; i < frames; ++i)
                to[size_t(i) * channels] = from[c][i];
        }
        frames_ += frames;
        return frames_ < frames_at_once || flush();
    }

    bool flush() {
        if (file_ && error_.empty() && frames_ > 0)
            if (auto written = file_->write(samples_.data(), frames_); !written)
                error_ = written.error();
        samples_.clear();
        frames_ = 0;
        return error_.empty();
    }

    void close() {
        flush();
        if (!file_)
            return;
        if (auto closed = file_->close(); !closed && error_.empty())
            error_ = closed.error();
    }
    const std::string& error() const { return error_; }

private:
    std::optional<SoundFile> file_;
    int channels_;
    int64_t frames_ = 0;
    std::vector<float> samples_;
    std::string error_;
};

osc::ServerSettings server_settings(const CommandLine& line) {
    // Checked with the command line.
    osc::ServerSettings settings = spa::read_settings(spa::Dict(line.settings).get()).value().server;
    settings.engine.sample_rate = line.score.rate;
    settings.log = [](osc::ServerSettings::Level level, const std::string& text) {
        if (level != osc::ServerSettings::Level::debug)
            std::printf("%s\n", text.c_str());
    };
    return settings;
}

/// Opens the input file. The engine gets as many inputs as that has channels, as in scsynth.
Result<std::optional<Input>> open_input(const CommandLine& line, osc::ServerSettings& settings) {
    const ScoreArguments& score = line.score;
    if (score.input == "_")
        return std::optional<Input>();
    auto file = SoundFile::open(score.input);
    if (!file)
        return Error{score.input + ": " + file.error()};
    const SoundFileInfo info = file.value().info();
    if (info.channels + settings.engine.outputs > settings.engine.audio_buses)
        return Error{score.input + ": its " + std::to_string(info.channels) +
                     " channels and the outputs are more than the audio buses"};
    if (info.channels != settings.engine.inputs)
        std::fprintf(stderr, "%s has %d channels: there are as many inputs, not %d\n", score.input.c_str(),
                     info.channels, settings.engine.inputs);
    if (info.rate != score.rate)
        std::fprintf(stderr, "%s has a rate of %g Hz, not %d Hz\n", score.input.c_str(), info.rate, score.rate);
    settings.engine.inputs = info.channels;
    return std::optional<Input>(std::move(file.value()));
}

/// No file for /dev/null, and so no format either.
Result<std::optional<SoundFile>> create_output(const ScoreArguments& score, int channels) {
    if (score.output == "/dev/null")
        return std::optional<SoundFile>();
    const auto format = sound_file_format(score.header, score.sample);
    if (!format)
        return Error{format.error() + ": " + score.header + " " + score.sample +
                     "\nheader formats: " + sound_file_headers() + "\nsample formats: " + sound_file_samples()};
    auto file = SoundFile::create(score.output, format.value(), channels, score.rate);
    if (!file)
        return Error{score.output + ": " + file.error()};
    return std::optional<SoundFile>(std::move(file.value()));
}

} // namespace

Result<uint64_t> render_score_file(const CommandLine& line) {
    const ScoreArguments& score = line.score;
    const auto bytes = read_all(score.score);
    if (!bytes)
        return Error{bytes.error()};
    osc::ServerSettings settings = server_settings(line);
    auto input = open_input(line, settings);
    if (!input)
        return Error{input.error()};
    auto file = create_output(score, settings.engine.outputs);
    if (!file)
        return Error{file.error()};

    Output output(std::move(file.value()), settings.engine.outputs);
    ProgressLine progress(osc::score_seconds(bytes.value()), score.rate);
    uint64_t frames = 0;
    const auto write = [&](const float* const* channels, int count) {
        const uint64_t before = frames;
        frames += uint64_t(count);
        if (before / uint64_t(score.rate) != frames / uint64_t(score.rate))
            progress.show(frames);
        return output.write(channels, count);
    };
    osc::BlockSource read;
    if (input.value())
        read = [&](float* const* channels, int count) { input.value()->read(channels, count); };
    auto rendered = osc::render_score(bytes.value(), settings, write, read);
    output.close();
    if (!rendered)
        return Error{score.score + ": " + rendered.error()};
    if (!output.error().empty())
        return Error{score.output + ": " + output.error()};
    return rendered.value();
}

} // namespace scs::cli
