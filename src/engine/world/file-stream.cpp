// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/world/file-stream.hpp"

#include "engine/guard/fault-guard.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

namespace scs {
namespace {

using namespace std::chrono_literals;

std::atomic<uint64_t> last_serial{0};
/// How much of a recording is lost if the process dies in the midst of it, with what a request has.
constexpr auto header_interval = 1s;

} // namespace

FileStream::FileStream(SoundFile file, const StreamedSamples& samples, std::optional<int32_t> whole,
                       std::shared_ptr<StreamCounts> counts, bool synchronous, Failed failed)
    : serial_(last_serial.fetch_add(1, std::memory_order_relaxed) + 1),
      samples_(samples),
      counts_(std::move(counts)),
      whole_(whole.value_or(-1)),
      failed_(std::move(failed)),
      file_(std::move(file)),
      own_scratch_(synchronous ? std::make_unique<float[]>(scratch_samples) : nullptr) {}

FileStream::~FileStream() {
    close_file();
}

uint64_t FileStream::request(Kind kind, int32_t start, int32_t frames) noexcept {
    if (!is_open() || asked_ - done_ >= most_requests || start < 0 || frames < 0 || frames > samples_.frames - start)
        return 0;
    requests_.push({++asked_, start, frames, kind});
    if (own_scratch_)
        serve({own_scratch_.get(), scratch_samples});
    return asked_;
}

void FileStream::serve(std::span<float> scratch) noexcept {
    Request request;
    if (!requests_.pop(request))
        return;
    int32_t end = -1;
    // libsndfile isn't to be trusted with what is in files. What crashed in it can't be closed any more, either.
    if (!FaultGuard::run([&] { end = perform(request, scratch); })) {
        if (file_)
            file_->abandon();
        file_.reset();
        if (request.kind == Kind::write)
            failure_ = "libsndfile crashed";
        end = perform(request, scratch);
    }
    tell_of_failure();
    answers_.push({request.number, end});
}

/// Calls action(the samples of these frames, their bytes), unless the buffer has gone.
template <class F>
bool FileStream::copy(int32_t frame, int64_t frames, F&& action) noexcept {
    const std::lock_guard lock(data_mutex_);
    if (detached_)
        return false;
    const auto channels = size_t(samples_.channels);
    action(samples_.data + size_t(frame) * channels, size_t(frames) * channels * sizeof(float));
    return true;
}

int32_t FileStream::perform(const Request& request, std::span<float> scratch) noexcept {
    if (request.kind != Kind::write)
        return read(request, scratch);
    write(request, scratch);
    return -1;
}

int32_t FileStream::read(const Request& request, std::span<float> scratch) {
    const auto piece = int64_t(scratch.size()) / samples_.channels;
    int64_t done = 0;
    bool at_start = false;
    while (file_ && done < request.frames) {
        const int64_t got = file_->read_on(std::min(request.frames - done, piece), scratch.data());
        if (got > 0) {
            const auto take = [&](float* data, size_t bytes) { std::memcpy(data, scratch.data(), bytes); };
            if (!copy(int32_t(request.start + done), got, take))
                return -1;
            done += got;
            at_start = false;
        } else if (request.kind == Kind::loop && !at_start && file_->rewind()) {
            at_start = true; // a file without frames must not be read from the start for ever
        } else {
            break;
        }
    }
    if (done == request.frames)
        return -1;
    copy(int32_t(request.start + done), request.frames - done,
         [](float* data, size_t bytes) { std::memset(data, 0, bytes); });
    return int32_t(request.start + done);
}

void FileStream::write(const Request& request, std::span<float> scratch) {
    const auto piece = int64_t(scratch.size()) / samples_.channels;
    int64_t done = 0;
    while (done < request.frames) {
        const int64_t frames = std::min(request.frames - done, piece);
        const auto take = [&](const float* data, size_t bytes) { std::memcpy(scratch.data(), data, bytes); };
        if (!file_ || !copy(int32_t(request.start + done), frames, take))
            break;
        if (const auto written = file_->write(scratch.data(), frames); !written) {
            failure_ = written.error();
            break;
        }
        done += frames;
    }
    if (const auto now = std::chrono::steady_clock::now(); file_ && now - header_written_ >= header_interval) {
        file_->update_header();
        header_written_ = now;
    }
    counts_->dropped.fetch_add(uint64_t(request.frames - done), std::memory_order_relaxed);
}

void FileStream::close_file() noexcept {
    const auto close = [&] {
        if (const auto closed = file_->close(); !closed)
            failure_ = closed.error();
    };
    if (file_ && !FaultGuard::run(close))
        file_->abandon();
    file_.reset();
    tell_of_failure();
}

void FileStream::tell_of_failure() noexcept {
    if (failure_.empty() || std::exchange(told_, true) || !failed_)
        return;
    try {
        failed_(failure_);
    } catch (const std::bad_alloc&) { // it isn't told
    }
}

void FileStream::detach() noexcept {
    refuse_requests();
    const std::lock_guard lock(data_mutex_);
    detached_ = true;
}

double FileStream::seconds_of_half() const noexcept {
    return samples_.frames / 2 / samples_.rate;
}

} // namespace scs
