// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/voices/code.hpp"

#include <cstdint>

namespace scs {

struct Batch;

struct VoiceRates {
    UnitRate audio, control;
};

/// A synth of native UGens: what it has in place of a UnitGraph. Behind it lie the values that its controls were set
/// to, then what they are mapped to. [rt], owned by the Ensemble.
struct Voice {
    Voice(const NativeCode& its_code, std::byte* its_record, const VoiceRates& its_rates) noexcept
        : code(&its_code), record(its_record), rates(its_rates) {}

    const NativeCode* code;
    Batch* batch = nullptr;   ///< the one that it is in; null: it is lone
    std::byte* record;        ///< its own; null while it is in a batch, whose record has its items then
    Batch* retired = nullptr; ///< the former batch that its record lies in; null: the record is a piece of the pool
    uint8_t lane = 0;
    bool constructed = false;
    uint8_t backoff = 0;        ///< blocks to go until it may be in a batch again
    uint16_t sample_offset = 0; ///< of its start in its first block, frames
    uint16_t audio_maps = 0;    ///< controls that are mapped to audio buses
    uint32_t maps = 0;          ///< controls that are mapped to any bus
    float subsample_offset = 0; ///< how far behind that frame it should have started, 0 to 1
    VoiceRates rates;           ///< for life, whatever rate the engine changes to

    /// What each control was set to last; while it is mapped the record has the bus's value instead.
    float* set_values() noexcept { return reinterpret_cast<float*>(this + 1); }
    const float* set_values() const noexcept { return const_cast<Voice*>(this)->set_values(); }
    /// 0: not mapped, n > 0: to control bus n - 1, n < 0: to audio bus -n - 1.
    int32_t* mapped() noexcept { return reinterpret_cast<int32_t*>(set_values() + code->controls); }
    const int32_t* mapped() const noexcept { return const_cast<Voice*>(this)->mapped(); }

    static size_t bytes(const NativeCode& code) noexcept {
        return sizeof(Voice) + code.controls * (sizeof(float) + sizeof(int32_t));
    }
};

} // namespace scs
