// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/world/scope-buffers.hpp"

#include "engine/world/layout.hpp"

#include <algorithm>
#include <new>

namespace scs {

using shm::region_count;
using shm::Scope;

ScopeBuffers::ScopeBuffers(std::array<Scope*, 128> scopes, float* samples) noexcept : samples_(samples) {
    static_assert(std::tuple_size_v<decltype(scopes)> == shm::scope_count);
    for (size_t i = 0; i < scopes.size(); ++i)
        writers_[i].shared = scopes[i];
    reset();
}

void ScopeBuffers::reset() noexcept {
    used_.fill(false);
    for (Writer& writer : writers_) {
        writer = {writer.shared, false, 0, 0, 0, 0, 0};
        new (writer.shared) Scope();
    }
}

float* ScopeBuffers::region(const Writer& writer, int index) const noexcept {
    return samples_ + writer.first_unit * unit_samples + size_t(index) * writer.channels * writer.frames;
}

size_t ScopeBuffers::find_room(size_t count) const noexcept {
    size_t run = 0;
    for (size_t unit = 0; unit < units; ++unit) {
        run = used_[unit] ? 0 : run + 1;
        if (run == count)
            return unit + 1 - count;
    }
    return units;
}

ScopeBuffers::Writer* ScopeBuffers::taken(int64_t index) noexcept {
    if (index < 0 || index >= int64_t(writers_.size()) || !writers_[size_t(index)].taken)
        return nullptr;
    return &writers_[size_t(index)];
}

float* ScopeBuffers::acquire(int64_t index, int64_t channels, int64_t frames) noexcept {
    constexpr int64_t most = int64_t(pool_samples);
    if (index < 0 || index >= int64_t(writers_.size()) || channels < 1 || channels > most || frames < 1 ||
        frames > most / region_count / channels)
        return nullptr;
    Writer& writer = writers_[size_t(index)];
    if (writer.taken)
        return nullptr;
    const size_t count = (size_t(region_count * channels * frames) + unit_samples - 1) / unit_samples;
    const size_t first = find_room(count);
    if (first == units)
        return nullptr;
    std::fill_n(used_.begin() + ptrdiff_t(first), count, true);
    writer = {writer.shared, true, 1, uint32_t(channels), uint32_t(frames), first, count};

    // No client reads a free scope. This clears whatever state the last client left.
    Scope& scope = *writer.shared;
    scope.max_frames = writer.frames;
    scope.channels = writer.channels;
    scope.data = region(writer, 0);
    for (int i = 0; i < region_count; ++i) {
        scope.regions[i].data = region(writer, i);
        scope.regions[i].frames = 0;
        scope.regions[i].changed.store(false, std::memory_order_relaxed);
    }
    scope.stage.store(0, std::memory_order_relaxed);
    scope.writing = writer.region;
    scope.reading = 2;
    scope.status.store(Scope::initialized, std::memory_order_release);
    return region(writer, writer.region);
}

float* ScopeBuffers::push(int64_t index, int64_t frames) noexcept {
    Writer* const writer = taken(index);
    if (!writer)
        return nullptr;
    Scope& scope = *writer->shared;
    shm::ScopeRegion& written = scope.regions[writer->region];
    written.frames = uint32_t(std::clamp<int64_t>(frames, 0, writer->frames));
    written.changed.store(true, std::memory_order_relaxed);
    const int got = scope.stage.exchange(writer->region, std::memory_order_acq_rel);
    if (got >= 0 && got < region_count) // otherwise a client has written a wrong index
        writer->region = got;
    scope.writing = writer->region;
    return region(*writer, writer->region);
}

void ScopeBuffers::release(int64_t index) noexcept {
    Writer* const writer = taken(index);
    if (!writer)
        return;
    writer->shared->status.store(Scope::free, std::memory_order_release);
    std::fill_n(used_.begin() + ptrdiff_t(writer->first_unit), writer->unit_count, false);
    writer->taken = false;
}

} // namespace scs
