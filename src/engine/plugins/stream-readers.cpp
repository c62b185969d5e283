// SPDX-License-Identifier: GPL-3.0-or-later
// DiskIn and VDiskIn.
#include "engine/plugins/interface-table.hpp"
#include "engine/plugins/registry.hpp"
#include "engine/plugins/stream-player.hpp"

#include <algorithm>
#include <cmath>

namespace scs {
namespace {

using Kind = FileStream::Kind;
using Four = float __attribute__((vector_size(16)));

// ---- DiskIn: buffer, loop

struct DiskIn : Player {
    uint32_t position; ///< the frame of the buffer that comes next
    /// What the last block found. As long as all of it is so, nothing else has to be looked at before `limit`.
    struct {
        uint32_t limit; ///< the end of the half; 0: look at everything
        int32_t loop;   ///< the bits of input 1
        const float* data;
        int32_t frames;
        const void* file;
        uint64_t serial;
    } last;

    int32_t loop_bits() const noexcept {
        int32_t bits;
        std::memcpy(&bits, mInBuf[1], sizeof bits);
        return bits;
    }
    /// Whether the next block is in the middle of a half that is there, and nothing has changed since the last one.
    bool goes_on(int count) const noexcept {
        return position + uint32_t(count) < last.limit && in(0) == number && loop_bits() == last.loop &&
               buffer->data == last.data && buffer->frames == last.frames && buffer->channels == int(mNumOutputs) &&
               buffer->mask1 < 0 && buffer->sndfile == last.file && serial_of(stream_of(*this)) == last.serial;
    }
    void remember(uint32_t end) noexcept {
        last = {end, loop_bits(), buffer->data, buffer->frames, buffer->sndfile, serial_of(stream_of(*this))};
    }
};

/// Plays a loop of a file that is in the buffer as a whole: nothing has to be read.
[[gnu::noinline]] void play_whole(DiskIn& unit, const ::SndBuf& buffer, uint32_t length, int frames) noexcept {
    if (length == 0) {
        clear(unit, frames);
        unit.mDone = true;
        return;
    }
    unit.position %= length;
    for (int done = 0; done < frames;) {
        const int count = int(std::min(uint32_t(frames - done), length - unit.position));
        play(buffer.data + size_t(unit.position) * size_t(buffer.channels), unit, done, count);
        done += count;
        unit.position += uint32_t(count);
        if (unit.position == length)
            unit.position = 0;
    }
}

[[gnu::noinline]] void look_and_play(DiskIn& unit, int frames) noexcept {
    unit.last.limit = 0;
    ::SndBuf& buffer = find_buffer(unit);
    if (!has_halves(*unit.mWorld, buffer)) {
        unit.position = 0;
        clear(unit, frames);
        return;
    }
    if (unit.mNumOutputs != uint32_t(buffer.channels)) {
        clear(unit, frames);
        return;
    }
    FileStream* const stream = attend(unit, buffer, frames);
    const bool loops = int(unit.in(1)) != 0;
    if (const int32_t length = stream && loops ? stream->whole() : -1; length >= 0) {
        play_whole(unit, buffer, uint32_t(length), frames);
        return;
    }
    const auto size = uint32_t(buffer.frames), half = size / 2;
    unit.position &= ~uint32_t(frames - 1); // a loop in the buffer may have left it anywhere
    if (unit.position >= size)
        unit.position = 0;
    if (waits_for(unit, stream, buffer, unit.position, int64_t(unit.position) + frames)) {
        wait(unit, *stream, frames);
        return;
    }
    play(buffer.data + size_t(unit.position) * size_t(buffer.channels), unit, 0, frames);
    if (ends_before(buffer, unit.position))
        unit.mDone = true;
    unit.position += uint32_t(frames);
    if (unit.position == size)
        unit.position = 0;
    if (unit.position == 0 || unit.position == half)
        ask(unit, stream, buffer, loops ? Kind::loop : Kind::read, int32_t(half - unit.position), frames);
    else if (!unit.awaits_any())
        unit.remember(unit.position < half ? half : size);
}

void disk_in(::Unit* self, int frames) {
    auto& unit = *static_cast<DiskIn*>(self);
    if (!unit.goes_on(frames)) {
        look_and_play(unit, frames);
        return;
    }
    play(unit.last.data + size_t(unit.position) * unit.mNumOutputs, unit, 0, frames);
    unit.position += uint32_t(frames);
}

void start_disk_in(::Unit* unit) {
    unit->mCalcFunc = disk_in;
    clear(*unit, 1);
}

// ---- VDiskIn: buffer, rate, loop, ID of its messages

struct VDiskIn : Player {
    double position; ///< in the buffer
    float rate;
    uint32_t count; ///< of the halves that it asked for so far
    bool plain;     ///< its rate is 1 for ever: nothing is interpolated
    bool started, complained;
};

void tell_position(VDiskIn& unit, uint32_t half) noexcept {
    const int id = int(unit.in(3));
    const auto frame = float(unit.position + double(float(unit.count * half)));
    if (id)
        interface_table()->fSendNodeReply(&unit.mParent->mNode, id, "/diskin", 1, &frame);
}

void ask_next(VDiskIn& unit, FileStream* stream, ::SndBuf& buffer, int frames) noexcept {
    const int32_t half = buffer.frames / 2;
    ++unit.count;
    ask(unit, stream, buffer, int(unit.in(2)) != 0 ? Kind::loop : Kind::read, unit.position >= half ? 0 : half, frames);
    tell_position(unit, uint32_t(half));
}

/// At rate 1. The loop of a whole file has `length` frames.
void play_plain(VDiskIn& unit, FileStream* stream, ::SndBuf& buffer, uint32_t length, int frames) noexcept {
    const bool is_whole = length != uint32_t(buffer.frames);
    const uint32_t half = uint32_t(buffer.frames) / 2;
    auto position = uint32_t(unit.position);
    if (position >= length)
        position %= length;
    bool passed = false;
    for (int done = 0; done < frames;) {
        const uint32_t limit = !is_whole && position < half ? half : length;
        const int count = int(std::min(uint32_t(frames - done), limit - position));
        play(buffer.data + size_t(position) * size_t(buffer.channels), unit, done, count);
        done += count;
        position += uint32_t(count);
        passed |= position == limit;
        if (position == length)
            position = 0;
    }
    unit.position = position;
    if (is_whole)
        return;
    if (ends_before(buffer, position))
        unit.mDone = true;
    if (passed)
        ask_next(unit, stream, buffer, frames);
}

/// Between b and c, by Hermite's cubic; T is a float or a vector of floats.
template <class T>
T cubic(float part, T a, T b, T c, T d) noexcept {
    const T c1 = 0.5f * (c - a);
    const T c2 = a - 2.5f * b + 2.f * c - 0.5f * d;
    const T c3 = 0.5f * (d - a) + 1.5f * (b - c);
    return ((c3 * part + c2) * part + c1) * part + b;
}

/// Two neighbouring samples.
Four two(const float* from) noexcept {
    Four both{};
    std::memcpy(&both, from, 2 * sizeof(float));
    return both;
}

/// At any rate, which goes to `rate` within the block.
void play_varied(VDiskIn& unit, FileStream* stream, ::SndBuf& buffer, uint32_t length, float rate,
                 int frames) noexcept {
    const bool is_whole = length != uint32_t(buffer.frames);
    const double size = buffer.frames, half = buffer.frames / 2;
    const size_t channels = unit.mNumOutputs;
    const float slope = float(double(rate - unit.rate) * unit.mRate->mSlopeFactor);
    double position = unit.position;
    if (is_whole)
        position = std::fmod(position, double(length));
    bool passed = false;
    int sample = 0;
    if (!unit.started) {
        // scsynth's position doesn't move during the first sample.
        for (size_t channel = 0; channel < channels; ++channel)
            unit.mOutBuf[channel][0] = buffer.data[channel];
        sample = 1;
    }
    // Copies that stay in registers.
    const float* const data = buffer.data;
    float* const* const out = unit.mOutBuf;
    float now = unit.rate;
    for (; sample < frames; ++sample) {
        const auto whole = uint32_t(int64_t(position));
        const auto part = float(position - double(whole));
        const uint32_t b = whole >= length ? whole - length : whole, a = b ? b - 1 : length - 1;
        const uint32_t c = b + 1 == length ? 0 : b + 1, d = c + 1 == length ? 0 : c + 1;
        if (channels == 2) {
            const Four both = cubic(part, two(data + size_t(a) * 2), two(data + size_t(b) * 2),
                                    two(data + size_t(c) * 2), two(data + size_t(d) * 2));
            out[0][sample] = both[0];
            out[1][sample] = both[1];
        } else {
            for (size_t channel = 0; channel < channels; ++channel)
                out[channel][sample] = cubic(part, data[a * channels + channel], data[b * channels + channel],
                                             data[c * channels + channel], data[d * channels + channel]);
        }
        now += slope;
        const double before = position;
        position += now;
        if (is_whole) {
            if (position >= length)
                position = std::fmod(position, double(length));
            continue;
        }
        // One frame later than it is left: the interpolation looks back.
        passed |= before < half + 1 && position >= half + 1;
        if (position >= size + 1) {
            passed = true;
            position -= size;
        }
    }
    unit.rate = now;
    unit.started = true;
    unit.position = position;
    if (is_whole)
        return;
    if (ends_before(buffer, position))
        unit.mDone = true;
    if (passed)
        ask_next(unit, stream, buffer, int(rate * float(frames)) + 1);
}

void vdisk_in(::Unit* self, int frames) {
    auto& unit = *static_cast<VDiskIn*>(self);
    ::SndBuf& buffer = find_buffer(unit);
    if (!has_halves(*unit.mWorld, buffer)) {
        unit.count = 0;
        clear(unit, frames);
        return;
    }
    if (unit.mNumOutputs != uint32_t(buffer.channels)) {
        clear(unit, frames);
        return;
    }
    const float given = unit.in(1), rate = given > 0 ? given : 0.f;
    const auto too_high = [&](float r) { return !(r * float(frames) * float(1. / buffer.frames) < 0.5f); };
    if (!unit.plain && too_high(rate)) {
        if (!unit.complained)
            interface_table()->fPrint("VDiskIn: the rate is too high for a buffer of %d frames\n", buffer.frames);
        unit.complained = true;
        clear(unit, frames);
        return;
    }
    if (!unit.plain && too_high(unit.rate))
        unit.rate = rate;
    const int advance = unit.plain ? frames : int(std::max(unit.rate, rate) * float(frames)) + 1;
    FileStream* const stream = attend(unit, buffer, advance);
    auto length = uint32_t(buffer.frames);
    if (const int32_t whole = stream && int(unit.in(2)) != 0 ? stream->whole() : -1; whole >= 0)
        length = uint32_t(whole);
    if (length == 0) {
        clear(unit, frames);
        unit.mDone = true;
        return;
    }
    if (!(unit.position < buffer.frames + 1))
        unit.position = 0; // the buffer was replaced by a shorter one
    const auto from = int64_t(unit.position), to = from + advance;
    if (waits_for(unit, stream, buffer, unit.plain ? from : from - 1, unit.plain ? to : to + 3)) {
        wait(unit, *stream, frames);
        return;
    }
    if (unit.plain)
        play_plain(unit, stream, buffer, length, frames);
    else
        play_varied(unit, stream, buffer, length, rate, frames);
}

void start_vdisk_in(::Unit* self) {
    auto& unit = *static_cast<VDiskIn*>(self);
    unit.rate = std::max(unit.in(1), 0.f);
    unit.plain = unit.mInput[1]->mCalcRate == calc_ScalarRate && unit.rate == 1;
    unit.mCalcFunc = vdisk_in;
    clear(unit, 1);
}

} // namespace

void define_stream_readers(PluginRegistry& registry) {
    registry.define_unit("DiskIn", sizeof(DiskIn), start_disk_in, nullptr, 0);
    registry.define_unit("VDiskIn", sizeof(VDiskIn), start_vdisk_in, nullptr, 0);
}

} // namespace scs
