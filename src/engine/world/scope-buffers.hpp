// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/nonblocking.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace scs {

namespace shm {
struct Scope;
}

/// The server's side of the scope buffers: which are taken, and where their samples are. Everything that decides where
/// to write is kept here, out of the clients' reach.
class ScopeBuffers {
public:
    static constexpr size_t unit_samples = 1024, units = 1024; ///< samples are allocated in pieces of 4 KiB
    static constexpr size_t pool_samples = unit_samples * units;

    /// [worker] `scopes`: shm::scope_count of them; `samples`: pool_samples. They must outlive this.
    ScopeBuffers(std::array<shm::Scope*, 128> scopes, float* samples) noexcept;

    /// [worker] Makes all scopes free and unwritten. No other function may be running.
    void reset() noexcept;

    /// [rt] Takes scope `index` for a writer. Returns where to write next: `frames` for each channel, one channel after
    /// the other. Null: there is no such scope, it is taken, or there is no room.
    float* acquire(int64_t index, int64_t channels, int64_t frames) noexcept SCS_NONBLOCKING;
    /// [rt] Shows clients what was written, `frames` in each channel, and returns where to write next. Null: the scope
    /// isn't taken.
    float* push(int64_t index, int64_t frames) noexcept SCS_NONBLOCKING;
    /// [rt] Frees the scope.
    void release(int64_t index) noexcept SCS_NONBLOCKING;

private:
    struct Writer {
        shm::Scope* shared;
        bool taken;
        int region; ///< the one that is being written
        uint32_t channels, frames;
        size_t first_unit, unit_count;
    };
    Writer* taken(int64_t index) noexcept;
    float* region(const Writer&, int index) const noexcept;
    /// The first of `count` free units in a row; `units` if there is no such row.
    size_t find_room(size_t count) const noexcept;

    float* samples_;
    std::array<Writer, 128> writers_{};
    std::array<bool, units> used_{};
};

} // namespace scs
