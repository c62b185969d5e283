// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/aligned-array.hpp"
#include "engine/base/nonblocking.hpp"
#include "engine/base/settings.hpp"
#include "engine/base/status.hpp"

#include <cstddef>
#include <cstdint>

namespace scs {

/// The audio and control buses, in the memory that UGen plugins read and write. A bus is "touched" in a
/// block once it has been written: the first writer in a block overwrites it, later ones add. Block numbers start at 0,
/// touched marks at -1.
class Buses {
public:
    /// [worker] `control`: zeroed memory for the control buses, which must outlive this; null: it allocates its own.
    explicit Buses(const Settings&, float* control = nullptr);

    int audio_count() const noexcept { return audio_count_; }
    int control_count() const noexcept { return control_count_; }

    /// [rt] block_size samples. `bus` must be in range.
    float* audio(int bus) noexcept { return audio_.get() + size_t(bus) * block_; }
    const float* audio(int bus) const noexcept { return audio_.get() + size_t(bus) * block_; }
    int32_t* audio_touched() noexcept { return audio_touched_.get(); }
    const int32_t* audio_touched() const noexcept { return audio_touched_.get(); }
    float* control() noexcept { return control_; }
    int32_t* control_touched() noexcept { return control_touched_.get(); }
    bool control_in_range(int64_t bus) const noexcept { return bus >= 0 && bus < control_count_; }
    bool audio_in_range(int64_t bus) const noexcept { return bus >= 0 && bus < audio_count_; }
    /// [rt] Sets a control bus and marks it as touched in block `block_number`. Error: index_out_of_range.
    Status set_control(int64_t bus, float value, int32_t block_number) noexcept SCS_NONBLOCKING;

    /// [rt] Makes all audio buses silent for what reads them in block `block_number` + 1.
    void forget_audio(int32_t block_number) noexcept SCS_NONBLOCKING;

private:
    size_t block_;
    int audio_count_, control_count_;
    AlignedArray<float> audio_, own_control_;
    float* control_;
    AlignedArray<int32_t> audio_touched_, control_touched_;
};

} // namespace scs
