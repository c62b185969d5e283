// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/nonblocking.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>

namespace scs {

class FileStream;
class Streams;

/// A sample buffer as a plain value. `data`: frames × channels interleaved samples, 64-byte aligned, or null.
struct Buffer {
    float* data = nullptr;
    int32_t frames = 0;
    int32_t channels = 0;
    double sample_rate = 0;
    FileStream* stream = nullptr; ///< of the file that is open for DiskIn or DiskOut, else null
    int64_t samples() const noexcept { return int64_t(frames) * channels; }
};

/// [worker] Allocates zeroed sample memory; null if there is none. At most 2^31 - 1 samples. It is free()'s, since
/// plugins' commands exchange a buffer's memory for their own; for memory in files (kept-samples.hpp) their free() is
/// free_any().
float* allocate_samples(int64_t samples) noexcept;
/// [worker] Frees it, or what a plugin has put in its place; null is fine.
void free_samples(float*) noexcept;

/// The buffer table, in the layout that UGen plugins read. There are two copies: synths use the data loop's; the
/// worker's is ahead of it by the jobs that haven't been applied yet. The system gives their memory as buffers are
/// made.
class Buffers {
public:
    /// `streams`, those of the buffers, must outlive it.
    Buffers(int count, Streams& streams);
    ~Buffers();

    int count() const noexcept { return count_; }
    bool in_range(int64_t index) const noexcept { return index >= 0 && index < count_; }

    /// [rt] The buffer that synths see. `index` in range, here and below.
    Buffer get(int index) const noexcept SCS_NONBLOCKING;
    /// [rt] Whether these samples lie in this buffer.
    bool holds(int index, const float* data, size_t samples) const noexcept SCS_NONBLOCKING;
    /// [rt] Makes synths see `buffer`. The caller then owns the data that they saw before.
    void install(int index, const Buffer& buffer) noexcept SCS_NONBLOCKING;

    /// [worker] The buffer as the worker's last job left it.
    Buffer latest(int index) const noexcept SCS_NONBLOCKING;
    /// [worker] Sets the worker's copy. install() on the data loop must follow; the memory for that is there then.
    void set_latest(int index, const Buffer& buffer) noexcept;
    Streams& streams() noexcept { return streams_; }
    /// [worker] Closes the files that are still open, which may wait for the disk (Streams::close_all()). Otherwise the
    /// destructor does it.
    void close_files();

    struct Abi;
    Abi& abi() noexcept { return *abi_; } ///< for src/engine/plugins and tests

private:
    int count_;
    Streams& streams_;
    std::unique_ptr<Abi> abi_;
};

} // namespace scs
