// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/rt/ring-buffer.hpp"
#include "engine/world/sound-file.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>

namespace scs {

/// What went wrong with streams since the engine was made, in frames.
struct StreamCounts {
    std::atomic<uint64_t> silent{0};  ///< played as silence, because the file hadn't been read in time
    std::atomic<uint64_t> dropped{0}; ///< recorded, but not in the file, because it hadn't been written in time
};

/// The sample memory of a buffer that a file streams through, interleaved.
struct StreamedSamples {
    float* data = nullptr;
    int32_t frames = 0, channels = 0;
    double rate = 0; ///< Hz, at which they are expected to be played
};

/// A sound file that is read into a buffer, or written from it, piece by piece while synths play. The data loop asks
/// for pieces, one thread at a time carries them out, in the order in which they were asked for.
class FileStream {
public:
    enum class Kind : uint8_t {
        read, ///< from the file's present place; what lies after its end is silence
        loop, ///< the same, but the file's beginning follows its end
        write,
    };
    static constexpr size_t most_requests = 64; ///< under way at once
    static constexpr size_t scratch_samples = 16384;

    /// Is told why something couldn't be written, once a stream. [the thread that carries requests out, or closes]
    using Failed = std::function<void(const std::string& why)>;

    /// [worker] `whole`: how many frames the file has, if all of them are in the buffer from its start on. A
    /// synchronous stream carries out what it is asked for at once.
    FileStream(SoundFile, const StreamedSamples&, std::optional<int32_t> whole, std::shared_ptr<StreamCounts>,
               bool synchronous, Failed = {});
    /// Closes the file, if that hasn't happened yet.
    ~FileStream();

    // ---- for units, all [rt]

    /// Different for each stream of a process, never 0.
    uint64_t serial() const noexcept { return serial_; }
    /// false: nothing that is asked for from now on is carried out.
    bool is_open() const noexcept { return open_.load(std::memory_order_acquire); }
    /// Asks for `frames` of the buffer's frames, from `start` on. The number of the request; 0: too many are under way,
    /// or the stream isn't open.
    uint64_t request(Kind, int32_t start, int32_t frames) noexcept;
    /// Takes notice of what has been carried out since. Calls ended(frame) if the file ended there, a frame of the
    /// buffer.
    template <class F>
    void take_answers(F&& ended) noexcept {
        for (Answer answer; answers_.pop(answer);) {
            done_ = answer.number;
            if (answer.end >= 0)
                ended(answer.end);
        }
    }
    /// Whether take_answers() has seen that request's end.
    bool is_done(uint64_t number) const noexcept { return number <= done_; }
    /// How many frames the file has, if the buffer still holds all of them from its start on; else -1.
    int32_t whole() const noexcept { return asked_ == 0 ? whole_ : -1; }
    StreamCounts& counts() const noexcept { return *counts_; }

    // ---- for the thread that carries requests out; one at a time

    /// [any] Whether something was asked for.
    bool has_requests() const noexcept { return requests_.fill() > 0; }
    /// Carries out the oldest request. `scratch`: scratch_samples of them.
    void serve(std::span<float> scratch) noexcept;
    /// Closes the file, which writes its rest.
    void close_file() noexcept;

    // ---- [worker]

    /// Requests are refused from now on.
    void refuse_requests() noexcept { open_.store(false, std::memory_order_release); }
    /// The buffer's memory is never touched again: when this returns it may be freed. Waits for a copy at most, never
    /// for the file.
    void detach() noexcept;
    double seconds_of_half() const noexcept;

private:
    struct Request {
        uint64_t number;
        int32_t start, frames;
        Kind kind;
    };
    struct Answer {
        uint64_t number;
        int32_t end; ///< -1: the file goes on
    };

    int32_t perform(const Request&, std::span<float> scratch) noexcept;
    int32_t read(const Request&, std::span<float> scratch);
    void write(const Request&, std::span<float> scratch);
    void tell_of_failure() noexcept;
    template <class F>
    bool copy(int32_t frame, int64_t frames, F&& action) noexcept;

    const uint64_t serial_;
    const StreamedSamples samples_;
    const std::shared_ptr<StreamCounts> counts_;
    const int32_t whole_;
    const Failed failed_;
    std::string failure_; ///< why something wasn't written; empty: all was
    bool told_ = false;   ///< of the failure
    std::chrono::steady_clock::time_point header_written_{};
    std::optional<SoundFile> file_; ///< none: it is closed, or libsndfile crashed on it
    std::mutex data_mutex_;         ///< over the samples and detached_; never taken by the data loop
    bool detached_ = false;
    std::unique_ptr<float[]> own_scratch_; ///< if synchronous
    std::atomic<bool> open_{true};
    RingBuffer<Request> requests_{most_requests};
    RingBuffer<Answer> answers_{most_requests};
    uint64_t asked_ = 0, done_ = 0; ///< [rt]
};

} // namespace scs
