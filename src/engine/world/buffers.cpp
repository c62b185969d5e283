// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/world/buffers.hpp"

#include "engine/world/buffers-abi.hpp"
#include "engine/world/kept-samples.hpp"
#include "engine/world/streams.hpp"

#include <bit>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <utility>

namespace scs {
namespace {

Buffer from_abi(const ::SndBuf& b) noexcept {
    return {b.data, b.frames, b.channels, b.samplerate, static_cast<FileStream*>(b.sndfile)};
}

} // namespace

void set_abi_buffer(::SndBuf& b, const Buffer& value) noexcept {
    const auto samples = uint32_t(value.samples());
    b.samplerate = value.sample_rate;
    b.sampledur = value.sample_rate > 0 ? 1. / value.sample_rate : 0.;
    b.data = value.data;
    b.channels = value.channels;
    b.frames = value.frames;
    b.samples = int(samples);
    // Delay lines and oscillators wrap at the largest power of two that fits.
    b.mask = samples ? int(std::bit_floor(samples)) - 1 : 0;
    b.mask1 = b.mask - 1;
    b.coord = coord_None;
    // The ABI leaves this pointer to the server and the units that stream files, and these are ours.
    b.sndfile = value.stream;
    if (value.stream) // DiskIn reads the mask as "more to come"
        b.mask = b.mask1 = -1;
}

float* allocate_samples(int64_t samples) noexcept {
    if (samples < 1 || samples > std::numeric_limits<int32_t>::max())
        return nullptr;
    constexpr size_t alignment = 64;
    const size_t bytes = sample_bytes(samples);
    void* data = std::aligned_alloc(alignment, bytes);
    // All pages are touched here, so that the data loop never waits for one and missing memory shows now.
    if (data)
        std::memset(data, 0, bytes);
    return static_cast<float*>(data);
}

void free_samples(float* data) noexcept {
    free_any(data);
}

Buffers::Buffers(int count, Streams& streams) : count_(count), streams_(streams), abi_(std::make_unique<Abi>(count)) {
    abi_->live.prepare_reading();
    abi_->updates.prepare_reading();
}

Buffers::~Buffers() {
    close_files();
    for (int i = 0; i < count_; ++i)
        free_samples(abi_->latest[size_t(i)].data);
}

Buffer Buffers::get(int index) const noexcept {
    return from_abi(abi_->live[size_t(index)]);
}

bool Buffers::holds(int index, const float* data, size_t samples) const noexcept {
    const ::SndBuf& b = abi_->live[size_t(index)];
    if (!b.data || std::less<>()(data, b.data))
        return false;
    const auto offset = size_t(data - b.data);
    return offset <= size_t(b.samples) && samples <= size_t(b.samples) - offset;
}

void Buffers::install(int index, const Buffer& buffer) noexcept {
    set_abi_buffer(abi_->live[size_t(index)], buffer);
    ++abi_->updates[size_t(index)].writes;
}

Buffer Buffers::latest(int index) const noexcept {
    return from_abi(abi_->latest[size_t(index)]);
}

void Buffers::set_latest(int index, const Buffer& buffer) noexcept {
    abi_->live.prepare_writing(size_t(index));
    abi_->updates.prepare_writing(size_t(index));
    const std::lock_guard lock(*abi_->non_rt_lock);
    set_abi_buffer(abi_->latest[size_t(index)], buffer);
}

void Buffers::close_files() {
    for (std::shared_ptr<FileStream>& stream : streams_.close_all())
        streams_.keep(std::move(stream)); // synths may still see it
}

} // namespace scs
