// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/result.hpp"
#include "engine/plugins/named-buffers.hpp"
#include "engine/world/buffers.hpp"
#include "engine/world/sound-file.hpp"
#include "osc/osc-command.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace scs::osc {

struct FreeSamples {
    void operator()(float* data) const noexcept { free_samples(data); }
};
using Samples = std::unique_ptr<float[], FreeSamples>;
/// [worker] Zeroed memory for a buffer, or why there is none.
Result<Samples> allocate_buffer(Services&, int64_t frames, int64_t channels);

/// Samples that are out of use, on their way to the worker, which frees them.
struct ReleasedSamples final : Handback {
    ~ReleasedSamples() override;
    std::vector<float*> samples;
};

/// A job on the buffer whose number is the first argument. The worker changes its own copy of the buffer's state, the
/// latest one, and the data loop installs it. Replaced samples are freed on the worker, because a buffer generator may
/// still be reading them there.
class BufferJob : public OscJob {
public:
    JobKind job_kind() const noexcept override { return JobKind::buffer; }
    JobBuffers job_buffers() const noexcept override { return {{&index_, 1}, false}; }

protected:
    explicit BufferJob(CommandInit&&);
    ~BufferJob() override;

    /// [osc] The arguments after the buffer's number, for constructors.
    ArgReader rest_;

    int32_t index() const noexcept { return index_; }
    /// [worker] The one that it began on. A job that a broken engine left behind mustn't touch the next one.
    Engine& engine() const noexcept { return *engine_; }
    Buffer latest() const noexcept;
    /// [worker] Whether the buffer isn't allocated. Then the command fails.
    bool lacks_samples();
    /// [worker] `wanted` if it is a rate (Hz), else engine_rate().
    double usable_rate(double wanted) const noexcept;
    /// [worker] Hz, at which the engine runs now.
    double engine_rate() const noexcept;
    /// [worker] /fail <name> <text> <buffer>
    void fail(std::string text) { set_failure(std::move(text), index_); }

    /// [worker] Closes the file that is open, if any: a DiskOut's last samples are written. The buffer's memory isn't
    /// touched by any stream then.
    void close_stream();
    /// [worker] Makes `buffer` the latest state, to be installed. Closes the file and releases the data that it
    /// replaces.
    void publish(const Buffer& buffer);
    /// [worker] The same where the latest state has been changed already, by a buffer generator.
    void published();
    /// [worker] Frees data once it is out of use; null is fine.
    void release(float* data);

    void install(Engine&) noexcept override;

private:
    Status begin(Engine& engine) noexcept final {
        engine_ = &engine;
        return {};
    }

    int32_t index_;
    Engine* engine_ = nullptr;
    std::optional<Buffer> result_;
    std::unique_ptr<ReleasedSamples> released_;
    std::shared_ptr<FileStream> closed_; ///< which synths see until install()
    bool installed_ = false;
};

/// Frames of a file and, for the "Channel" commands, which of its channels.
struct FileSelection {
    std::string_view path;
    int64_t start = 0;
    int64_t frames = -1;
    std::vector<int32_t> channels; ///< empty: all; negative: silence
};

/// /b_alloc buffer, frames, channels (1), completion, rate (the server's)
class AllocBuffer final : public BufferJob {
public:
    explicit AllocBuffer(CommandInit&&);

private:
    void do_work() override;
    int32_t frames_, channels_;
    double rate_ = 0;
};

/// /b_free buffer, completion
class FreeBuffer final : public BufferJob {
public:
    explicit FreeBuffer(CommandInit&&);

private:
    void do_work() override;
};

/// /b_zero buffer, completion. Writes into the live data, as scsynth does.
class ZeroBuffer final : public BufferJob {
public:
    explicit ZeroBuffer(CommandInit&&);

private:
    void do_work() override;
};

/// /b_close buffer, completion
class CloseBuffer final : public BufferJob {
public:
    explicit CloseBuffer(CommandInit&&);

private:
    void do_work() override;
};

/// /b_setSampleRate buffer, rate (the server's); not answered
class SetBufferRate final : public BufferJob {
public:
    explicit SetBufferRate(CommandInit&&);

private:
    void do_work() override;
    void answer_done(ReplyPort&) override {}
    double rate_;
};

/// /b_gen buffer, generator, arguments. Writes into the live data. Generators are plugins' code, and may read others.
class GenerateBuffer final : public BufferJob {
public:
    explicit GenerateBuffer(CommandInit&&);
    JobKind job_kind() const noexcept override { return JobKind::plugin; }
    JobBuffers job_buffers() const noexcept override { return buffers_.get(); }

private:
    void do_work() override;
    std::string_view generator_;
    NamedBuffers buffers_;
};

/// /b_allocRead buffer, path, start, frames (≤ 0: all), completion
/// /b_allocReadChannel buffer, path, start, frames, channel*, completion
template <bool some_channels>
class AllocReadBuffer final : public BufferJob {
public:
    explicit AllocReadBuffer(CommandInit&&);

private:
    void do_work() override;
    FileSelection file_;
};

/// /b_read buffer, path, start, frames (< 0: all), buffer's start, leave open, completion
/// /b_readChannel buffer, path, start, frames, buffer's start, leave open, channel*, completion
/// Writes into the live data.
template <bool some_channels>
class ReadBuffer final : public BufferJob {
public:
    explicit ReadBuffer(CommandInit&&);

private:
    void do_work() override;
    FileSelection file_;
    int32_t buffer_start_;
    bool leave_open_;
};

/// /b_write buffer, path, header format, sample format, frames (< 0: all), start, leave open, completion
class WriteBuffer final : public BufferJob {
public:
    explicit WriteBuffer(CommandInit&&);

private:
    void do_work() override;
    std::string_view path_;
    int format_ = 0;
    int64_t frames_, start_;
    bool leave_open_;
};

} // namespace scs::osc
