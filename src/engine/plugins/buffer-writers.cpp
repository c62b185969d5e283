// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/plugins/buffer-writers.hpp"

#include "engine/plugins/buffer-check.hpp"
#include "engine/plugins/interface-table.hpp"
#include "engine/plugins/registry.hpp"
#include "engine/ugens/buffer-place.hpp"

#include <SC_DemandUnit.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace scs {
namespace {

float in(const ::Unit& unit, int input) noexcept {
    return unit.mInBuf[input][0];
}

/// Towards zero, into what an int32 holds; 0 for NaN.
int64_t whole(double value) noexcept {
    constexpr double most = 2147483647.;
    return std::isnan(value) ? 0 : int64_t(std::clamp(value, -most, most));
}

/// The signal of an input: a sample for each frame, or a number that holds for the block.
class Signal {
public:
    Signal(const ::Unit& unit, int input) noexcept
        : at_(unit.mInBuf[input]),
          step_(unit.mCalcRate == calc_FullRate && unit.mInput[input]->mCalcRate != calc_FullRate ? 0 : 1) {}
    float operator[](int frame) const noexcept { return at_[frame * step_]; }

private:
    const float* at_;
    int step_;
};

/// The buffer that a number names, as SuperCollider's units look it up: the first one if there is none of that number.
::SndBuf& buffer_or_first(const ::Unit& unit, float number) noexcept {
    if (::SndBuf* const found = find_buffer(unit, std::max(number, 0.f)))
        return *found;
    ::World& world = *unit.mWorld;
    const bool one_past = number == float(int64_t(world.mNumSndBufs) + unit.mParent->localBufNum);
    return world.mSndBufs[one_past ? world.mNumSndBufs : 0]; // the table ends with one that is always empty
}

void clear(::Unit& unit, int samples) noexcept {
    interface_table()->fClearUnitOutputs(&unit, samples);
}

double place_of(::Unit& unit, double place, double end, bool loop) noexcept {
    bool stopped = false;
    place = place_in(place, end, loop, stopped, [](double x) { return std::floor(x); });
    unit.mDone |= stopped;
    return place;
}

/// The frame at a place that place_of() gave; null if it is none of the buffer's.
float* frame_at(const ::SndBuf& buffer, double place) noexcept {
    return place >= 0. && place < double(buffer.frames) ? buffer.data + int64_t(place) * buffer.channels : nullptr;
}

// ---- RecordBuf: buffer, offset, level, level of what is there, run, loop, trigger, done action, signals

struct RecordBuf : public ::Unit {
    enum { buffer, offset, new_level, old_level, run, loop, trigger, action, signals };
    int64_t place; ///< samples
    float level, kept, last_trigger;
    bool replaces; ///< what is there, at full level
};

/// Writes a frame, if it is one of the buffer's.
void record_frame(RecordBuf& unit, const ::SndBuf& buffer, int frame) noexcept {
    if (unit.place < 0 || unit.place + buffer.channels > buffer.samples)
        return;
    float* const to = buffer.data + unit.place;
    for (int c = 0; c < buffer.channels; ++c) {
        const float sample = Signal(unit, RecordBuf::signals + c)[frame];
        to[c] = unit.replaces ? sample : sample * unit.level + to[c] * unit.kept;
    }
}

/// Records round and round.
void record_loop(RecordBuf& unit, const ::SndBuf& buffer, float run, int frames, float level_step, float kept_step) {
    const int64_t last = buffer.samples - buffer.channels;
    if (unit.place < 0)
        unit.place = last;
    else if (unit.place >= buffer.samples)
        unit.place = 0;
    if (!(run > 0.f || run < 0.f))
        return;
    for (int i = 0; i < frames; ++i) {
        record_frame(unit, buffer, i);
        unit.place += run > 0.f ? buffer.channels : -buffer.channels;
        if (unit.place < 0)
            unit.place = last;
        else if (unit.place >= buffer.samples)
            unit.place = 0;
        unit.level += level_step;
        unit.kept += kept_step;
    }
}

/// Records to an end of the buffer.
void record_once(RecordBuf& unit, const ::SndBuf& buffer, float run, int frames, float level_step, float kept_step) {
    if (run > 0.f || run < 0.f) {
        const int64_t left = run > 0.f ? buffer.samples - unit.place : unit.place;
        const int64_t count = std::clamp<int64_t>(left, 0, int64_t(frames) * buffer.channels) / buffer.channels;
        for (int i = 0; i < count; ++i) {
            record_frame(unit, buffer, i);
            unit.place += run > 0.f ? buffer.channels : -buffer.channels;
            unit.level += level_step;
            unit.kept += kept_step;
        }
    }
    if (unit.place >= buffer.samples) {
        unit.mDone = true;
        interface_table()->fDoneAction(int(whole(in(unit, RecordBuf::action))), &unit);
    }
}

void record_buf(::Unit* self, int frames) {
    auto& unit = *static_cast<RecordBuf*>(self);
    const ::SndBuf& buffer = buffer_or_first(unit, in(unit, RecordBuf::buffer));
    const uint32_t signals = unit.mNumInputs - RecordBuf::signals;
    if (!buffer.data || signals != uint32_t(buffer.channels)) {
        if (buffer.data && unit.mWorld->mVerbosity > -1 && !unit.mDone)
            interface_table()->fPrint(
                "buffer-writing UGen channel mismatch: numInputs %i, yet buffer has %i channels\n", int(signals),
                buffer.channels);
        unit.mDone = true;
        return clear(unit, frames);
    }
    const auto slope = float(unit.mRate->mSlopeFactor);
    const float level_step = unit.replaces ? 0.f : (in(unit, RecordBuf::new_level) - unit.level) * slope;
    const float kept_step = unit.replaces ? 0.f : (in(unit, RecordBuf::old_level) - unit.kept) * slope;
    const float trigger = in(unit, RecordBuf::trigger), run = in(unit, RecordBuf::run);
    if (trigger > 0.f && unit.last_trigger <= 0.f) {
        unit.mDone = false;
        unit.place = whole(in(unit, RecordBuf::offset)) * buffer.channels;
    }
    unit.last_trigger = trigger;
    const auto record = whole(in(unit, RecordBuf::loop)) ? record_loop : record_once;
    record(unit, buffer, run, frames, level_step, kept_step);
}

void start_record_buf(::Unit* self) {
    auto& unit = *static_cast<RecordBuf*>(self);
    const auto scalar = [&](int input) { return unit.mInput[input]->mCalcRate == calc_ScalarRate; };
    unit.place = whole(in(unit, RecordBuf::offset)) * (unit.mNumInputs - RecordBuf::signals);
    unit.level = in(unit, RecordBuf::new_level);
    unit.kept = in(unit, RecordBuf::old_level);
    unit.last_trigger = 0.f;
    unit.replaces =
        scalar(RecordBuf::new_level) && scalar(RecordBuf::old_level) && unit.level == 1.f && unit.kept == 0.f;
    unit.mCalcFunc = record_buf;
    clear(unit, 1);
}

// ---- BufWr: buffer, phase, loop, signals

/// Writes frames of this many signals, from the input `first` on, to where frame_of(phase) says, if it isn't null.
template <int Channels, class FrameOf>
void write_frames(const ::Unit& unit, int first, int frames, const Signal phases, FrameOf&& frame_of) noexcept {
    const Signal a(unit, first), b(unit, first + Channels - 1);
    for (int i = 0; i < frames; ++i)
        if (float* const to = frame_of(phases[i])) {
            to[0] = a[i];
            to[Channels - 1] = b[i];
        }
}

void buf_wr(::Unit* self, int frames) {
    enum { buffer_number, phase, loops, signals };
    ::Unit& unit = *self;
    const ::SndBuf& buffer = buffer_or_first(unit, in(unit, buffer_number));
    const int channels = unit.mNumInputs - signals;
    if (!buffer.data || channels > buffer.channels) {
        if (buffer.data && unit.mWorld->mVerbosity > -1 && !unit.mDone)
            interface_table()->fPrint("Buffer UGen channel mismatch: expected %i, yet buffer has %i channels\n",
                                      channels, buffer.channels);
        unit.mDone = true;
        return clear(unit, frames);
    }
    const bool loop = whole(in(unit, loops)) != 0;
    const double end = buffer.frames - (loop ? 0 : 1);
    const Signal phases(unit, phase);
    const auto frame_of = [&](float phase) {
        const double place = double(phase);
        return place >= 0. && place < end ? buffer.data + int64_t(place) * buffer.channels // mostly, and far cheaper
                                          : frame_at(buffer, place_of(unit, place, end, loop));
    };
    if (channels == 1)
        return write_frames<1>(unit, signals, frames, phases, frame_of);
    if (channels == 2)
        return write_frames<2>(unit, signals, frames, phases, frame_of);
    for (int i = 0; i < frames; ++i)
        if (float* const to = frame_of(phases[i]))
            for (int c = 0; c < channels; ++c)
                to[c] = Signal(unit, signals + c)[i];
}

void start_buf_wr(::Unit* unit) {
    unit->mCalcFunc = buf_wr;
    clear(*unit, 1);
}

// ---- Dbufwr: buffer, phase, value, loop

void d_buf_wr(::Unit* unit, int sample) {
    enum { buffer_number, phase, value, loops };
    const auto out = [&](float result) { unit->mOutBuf[0][0] = result; };
    constexpr float ended = std::numeric_limits<float>::quiet_NaN();
    const bool loop = whole(DEMANDINPUT_A(loops, sample)) != 0;
    const float number = DEMANDINPUT_A(buffer_number, sample);
    if (std::isnan(number))
        return out(ended);
    const ::SndBuf& buffer = buffer_or_first(*unit, number);
    if (!buffer.data) {
        unit->mDone = true;
        return out(0.f);
    }
    if (sample == 0) {
        RESETINPUT(phase);
        RESETINPUT(value);
        return;
    }
    const float place = DEMANDINPUT_A(phase, sample);
    if (std::isnan(place))
        return out(ended);
    const float written = DEMANDINPUT_A(value, sample);
    if (std::isnan(written))
        return out(ended);
    const double end = buffer.frames - (loop ? 0 : 1);
    if (float* const to = frame_at(buffer, place_of(*unit, double(place), end, loop)))
        *to = written;
    out(written);
}

void start_d_buf_wr(::Unit* unit) {
    unit->mCalcFunc = d_buf_wr;
    d_buf_wr(unit, 0);
    unit->mOutBuf[0][0] = 0.f;
}

// ---- DelTapWr: buffer, signal; its output is the place as an integer's bits

struct DelTapWr : public ::Unit {
    uint32_t place;
};

/// The buffer, or null if it can't be used.
::SndBuf* tap_buffer(DelTapWr& unit, int frames) noexcept {
    ::SndBuf& buffer = buffer_or_first(unit, in(unit, 0));
    if (buffer.data && buffer.channels == 1)
        return &buffer;
    unit.mDone = true;
    clear(unit, frames);
    return nullptr;
}

void del_tap_wr(::Unit* self, int frames) {
    auto& unit = *static_cast<DelTapWr*>(self);
    const ::SndBuf* const buffer = tap_buffer(unit, frames);
    if (!buffer)
        return;
    const auto samples = uint32_t(buffer->samples);
    if (unit.place >= samples)
        unit.place = 0; // the buffer was replaced by a smaller one
    const Signal signal(unit, 1);
    for (int i = 0; i < frames; ++i) {
        buffer->data[unit.place] = signal[i]; // read first: the output may share its memory
        std::memcpy(&unit.mOutBuf[0][i], &unit.place, sizeof unit.place);
        if (++unit.place == samples)
            unit.place = 0;
    }
}

void start_del_tap_wr(::Unit* self) {
    auto& unit = *static_cast<DelTapWr*>(self);
    unit.place = 0;
    unit.mCalcFunc = del_tap_wr;
    const ::SndBuf* const buffer = tap_buffer(unit, 1);
    if (!buffer)
        return;
    std::memset(buffer->data, 0, size_t(buffer->samples) * sizeof(float));
    unit.mOutBuf[0][0] = 0.f;
    buffer->data[0] = in(unit, 1); // 0 if the output has its memory, as in SuperCollider
    unit.place = buffer->samples == 1 ? 0 : 1;
}

} // namespace

void define_buffer_writers(PluginRegistry& registry) {
    registry.define_unit("RecordBuf", sizeof(RecordBuf), start_record_buf, nullptr, 0);
    registry.define_unit("BufWr", sizeof(::Unit), start_buf_wr, nullptr, 0);
    registry.define_unit("Dbufwr", sizeof(::Unit), start_d_buf_wr, nullptr, 0);
    registry.define_unit("DelTapWr", sizeof(DelTapWr), start_del_tap_wr, nullptr, 0);
}

} // namespace scs
