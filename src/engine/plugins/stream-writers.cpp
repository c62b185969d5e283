// SPDX-License-Identifier: GPL-3.0-or-later
// DiskOut.
#include "engine/guard/fault-guard.hpp"
#include "engine/plugins/registry.hpp"
#include "engine/plugins/stream-unit.hpp"

#include <algorithm>

namespace scs {
namespace {

/// Its inputs: buffer, signals.

struct DiskOut : StreamUnit {
    uint32_t position, recorded;
    uint64_t requests[2]; ///< the last one for each half
};

/// Moves the inputs to interleaved frames.
void record(const ::Unit& unit, float* to, int frames) noexcept {
    const size_t channels = unit.mNumInputs - 1;
    const float* const* in = unit.mInBuf + 1;
    if (channels == 1) {
        std::memcpy(to, in[0], size_t(frames) * sizeof(float));
        return;
    }
    for (int done = 0; done < frames; ++done)
        for (size_t channel = 0; channel < channels; ++channel)
            *to++ = in[channel][done];
}

/// Has the frames written that lie between the half's start and `end`.
void write(DiskOut& unit, FileStream& stream, int32_t start, int32_t end) noexcept {
    const FaultGuard::HostCode whole;
    const uint64_t request = stream.request(FileStream::Kind::write, start, end - start);
    stream.take_answers([&](int32_t at) { unit.buffer->mask = at; });
    unit.requests[start > 0] = request;
    if (request == 0 && stream.is_open())
        count_late(unit, stream.counts().dropped, end - start,
                   "a file wasn't written in time: %llu frames were dropped so far\n");
}

void disk_out(::Unit* self, int frames) {
    auto& unit = *static_cast<DiskOut*>(self);
    ::SndBuf& buffer = find_buffer(unit);
    if (!has_halves(*unit.mWorld, buffer)) {
        unit.position = 0;
        clear(unit, frames);
        return;
    }
    if (unit.mNumInputs - 1 != uint32_t(buffer.channels)) {
        clear(unit, frames);
        return;
    }
    FileStream* const stream = stream_of(unit);
    if (const uint64_t serial = serial_of(stream); serial != unit.serial) {
        unit.serial = serial;
        unit.requests[0] = unit.requests[1] = 0;
    }
    const auto size = uint32_t(buffer.frames), half = size / 2;
    if (unit.position >= size)
        unit.position = 0;
    float* const out = unit.mOutBuf[0];
    if (stream) {
        stream->take_answers([&](int32_t end) { buffer.mask = end; });
        if (!stream->is_done(unit.requests[unit.position >= half]) && stream->is_open()) {
            std::fill_n(out, frames, float(unit.recorded));
            count_late(unit, stream->counts().dropped, frames,
                       "a file wasn't written in time: %llu frames were dropped so far\n");
            return;
        }
    }
    // The output may share its memory with an input.
    record(unit, buffer.data + size_t(unit.position) * size_t(buffer.channels), frames);
    for (int i = 0; i < frames; ++i)
        out[i] = float(unit.recorded++);
    unit.position += uint32_t(frames);
    const uint32_t reached = unit.position;
    if (unit.position == size)
        unit.position = 0;
    if (stream && (reached == half || reached == size))
        write(unit, *stream, int32_t(reached - half), int32_t(reached));
}

void start_disk_out(::Unit* unit) {
    unit->mCalcFunc = disk_out;
    clear(*unit, 1);
}

/// The last half is written as far as it was recorded.
void end_disk_out(::Unit* self) {
    auto& unit = *static_cast<DiskOut*>(self);
    FileStream* const stream = unit.buffer ? stream_of(unit) : nullptr;
    if (!stream || stream->serial() != unit.serial)
        return;
    const auto position = int32_t(unit.position), half = unit.buffer->frames / 2;
    const int32_t start = position > half ? half : 0;
    if (position > 0 && position != half && position <= unit.buffer->frames)
        write(unit, *stream, start, position);
}

} // namespace

void define_stream_writers(PluginRegistry& registry) {
    registry.define_unit("DiskOut", sizeof(DiskOut), start_disk_out, end_disk_out, 0);
}

} // namespace scs
