// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/compile/code.hpp"

#include <cstdint>

namespace scs {

struct Batch;

/// What a synth of native UGens has in place of a UnitGraph. In memory the values follow that its controls were set to,
/// then what the controls are mapped to. [rt], owned by the Ensemble.
struct Voice {
    Voice(const NativeCode& its_code, std::byte* its_record, double its_rate) noexcept
        : code(&its_code), record(its_record), caught_up(its_code.ticks.ahead == 0), sample_rate(its_rate) {}

    const NativeCode* code;
    Batch* batch = nullptr;   ///< the batch that it is in; null: it is lone
    std::byte* record;        ///< its own; null while its items are in a batch's record
    Batch* retired = nullptr; ///< the former batch that its record lies in; null: the record is a piece of the pool
    uint8_t lane = 0;
    bool constructed = false;
    bool caught_up;             ///< it has been computed ahead as far as its code has it (Ticks)
    uint8_t backoff = 0;        ///< blocks to go until it may be in a batch again
    uint16_t sample_offset = 0; ///< where in its first block it starts, frames
    uint16_t audio_maps = 0;    ///< controls that are mapped to audio buses; what can be batched has at most 16384
    uint32_t maps = 0;          ///< controls that are mapped to any bus
    float subsample_offset = 0; ///< how far after that frame it should start, 0 to 1
    double sample_rate;         ///< Hz; fixed, even if the engine's rate changes

    /// What each control was set to last. While a control is mapped, the record has the bus's value instead.
    float* set_values() noexcept { return reinterpret_cast<float*>(this + 1); }
    const float* set_values() const noexcept { return const_cast<Voice*>(this)->set_values(); }
    /// Of each control: 0 if it isn't mapped, n > 0 for control bus n - 1, n < 0 for audio bus -n - 1.
    int32_t* mapped() noexcept { return reinterpret_cast<int32_t*>(set_values() + code->controls); }
    const int32_t* mapped() const noexcept { return const_cast<Voice*>(this)->mapped(); }

    static size_t bytes(const NativeCode& code) noexcept {
        return sizeof(Voice) + code.controls * (sizeof(float) + sizeof(int32_t));
    }
};

} // namespace scs
