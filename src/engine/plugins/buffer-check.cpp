// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/plugins/buffer-check.hpp"

#include "engine/plugins/abi-owners.hpp"
#include "engine/plugins/interface-table.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace scs {
namespace {

constexpr int values_before_bins = 2; ///< of a spectrum: DC and Nyquist

int bins_of(const ::SndBuf& chain) noexcept {
    return (chain.samples - values_before_bins) / 2;
}

/// Whether the unit belongs to an FFT chain, that of its input 0.
bool is_spectral(const BufferNeed& need) noexcept {
    return need.kind == BufferNeed::bins || need.kind == BufferNeed::spectra || need.kind == BufferNeed::chosen_bins;
}

bool is_wrapped(const ::SndBuf& buffer) noexcept {
    return !buffer.data || buffer.mask == int(std::bit_floor(uint32_t(buffer.samples))) - 1;
}

/// As the units compute it, without what overflows there.
bool chosen_bins_exist(const ::Unit& unit, int first_input, int bins) noexcept {
    constexpr float most = 1e6f;
    for (int i = 0; i < 3; ++i)
        if (!(std::abs(unit.mInBuf[first_input + i][0]) < most))
            return false;
    const auto in = [&](int i) { return int64_t(unit.mInBuf[first_input + i][0]); };
    const int64_t start = in(0), skip = in(1);
    int64_t count = in(2);
    if (skip > 1 && count * skip > bins)
        count = bins / skip;
    else
        count = std::min(count, int64_t(bins));
    const int64_t last = start + skip * (count - 1);
    return bins > 0 && (count <= 0 || (start >= 0 && start < bins && last >= 0 && last < bins));
}

} // namespace

::SndBuf* find_buffer(const ::Unit& unit, float number) noexcept {
    constexpr float too_high = 2147483648.f;
    if (!(number >= 0.f && number < too_high))
        return nullptr;
    const ::World& world = *unit.mWorld;
    const auto index = uint32_t(number);
    if (index < world.mNumSndBufs)
        return world.mSndBufs + index;
    const ::Graph& graph = graph_of(unit);
    const uint32_t local = index - world.mNumSndBufs;
    return int64_t(local) < graph.localBufNum ? graph.mLocalSndBufs + local : nullptr;
}

float bins_of_chain(const ::Unit& unit, float number) noexcept {
    const ::SndBuf* chain = find_buffer(unit, number);
    return chain && chain->data ? float(std::max(bins_of(*chain), 0)) : 0.f;
}

BufferCheck::BufferCheck(const UgenEntry& entry) noexcept : need_(*entry.need), entry_(entry) {}

void BufferCheck::construct(::Unit& unit) {
    calc_ = unit.mCalcFunc;
    if (holds(unit))
        build(unit);
    else
        keep_out(unit, 1);
    unit.mCalcFunc = run;
}

void BufferCheck::build(::Unit& unit) {
    constructed_ = true;
    unit.mCalcFunc = calc_; // a constructor may leave it as it was
    entry_.construct(&unit);
    calc_ = unit.mCalcFunc;
    unit.mCalcFunc = run;
}

void BufferCheck::run(::Unit* unit, int samples) {
    BufferCheck& self = of(*unit);
    if (!self.holds(*unit))
        return self.keep_out(*unit, samples);
    if (!self.constructed_)
        self.build(*unit);
    self.calc_(unit, samples);
    if (unit->mCalcFunc != run) {
        self.calc_ = unit->mCalcFunc;
        unit->mCalcFunc = run;
    }
}

bool BufferCheck::holds(const ::Unit& unit) noexcept {
    const ::SndBuf* chain = nullptr;
    if (is_spectral(need_)) {
        const float number = unit.mInBuf[0][0];
        if (number < 0.f)
            return true; // nothing new in the chain: the unit only says so
        chain = find_buffer(unit, number);
        if (!chain || !chain->data || chain->samples < values_before_bins)
            return false;
        if (need_.kind == BufferNeed::chosen_bins)
            return chosen_bins_exist(unit, need_.input, bins_of(*chain));
    }
    const float number = need_.at_start && has_seen_ ? seen_.number : unit.mInBuf[need_.input][0];
    if (need_.optional && number < 0.f)
        return true;
    const ::SndBuf* buffer = find_buffer(unit, number);
    if (need_.kind == BufferNeed::wrapped) // in place of a buffer that isn't there the unit takes the first one
        return is_wrapped(buffer ? *buffer : unit.mWorld->mSndBufs[0]);
    if (!buffer || !buffer->data || (!need_.local && number >= float(unit.mWorld->mNumSndBufs)))
        return false;
    const Seen now{number, buffer->data, buffer->samples, buffer->channels, chain ? chain->samples : 0};
    const bool anew = !has_seen_ || (need_.stays == BufferNeed::size_of_number && seen_.number != number);
    if (!stays(anew ? now : seen_, now) || !has_room(unit, *buffer, now.spectrum))
        return false;
    if (anew)
        seen_ = now; // as the unit does, which is called now
    has_seen_ = true;
    return true;
}

bool BufferCheck::stays(const Seen& before, const Seen& now) const noexcept {
    const bool size = before.samples == now.samples && before.channels == now.channels;
    switch (need_.stays) {
    case BufferNeed::anything: return true;
    case BufferNeed::memory: return size && before.data == now.data;
    default: return size && (need_.kind != BufferNeed::spectra || before.spectrum == now.spectrum);
    }
}

bool BufferCheck::has_room(const ::Unit& unit, const ::SndBuf& buffer, int spectrum) const noexcept {
    switch (need_.kind) {
    case BufferNeed::bins: return buffer.samples >= (spectrum - values_before_bins) / 2 + need_.count;
    case BufferNeed::spectra: return true; // there is room for the 3 samples, and for all that go into its frames
    case BufferNeed::period: {
        const float period = unit.mInBuf[need_.count][0];
        return period >= 1.f && period < float(buffer.samples) + 1.f;
    }
    default: return buffer.samples >= need_.count;
    }
}

void BufferCheck::keep_out(::Unit& unit, int samples) noexcept {
    if (is_spectral(need_))
        unit.mOutBuf[0][0] = unit.mInBuf[0][0];
    else if (unit.mCalcRate == calc_DemandRate)
        unit.mOutBuf[0][0] = std::numeric_limits<float>::quiet_NaN();
    else
        interface_table()->fClearUnitOutputs(&unit, samples);
    if (!complained_ && need_.kind != BufferNeed::wrapped)
        complain(unit);
    complained_ = true;
}

void BufferCheck::complain(const ::Unit& unit) noexcept {
    const char* const name = entry_.info.name.c_str();
    const auto print = interface_table()->fPrint;
    if (need_.kind == BufferNeed::chosen_bins)
        print("%s: bins that the spectrum doesn't have\n", name);
    else
        print("%s: buffer %g is too small, or was replaced, and isn't written to\n", name,
              double(unit.mInBuf[need_.input][0]));
}

} // namespace scs
