// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/nonblocking.hpp"
#include "engine/base/settings.hpp"

#include <cstdint>
#include <vector>

namespace scs {

class Buses;

/// The way from the output buses to the ports. Other programs' sound is mixed with what leaves here, so it is never NaN
/// or infinite: a port is silent in such a block. Where sound begins or ends abruptly because a block is missing, it is
/// faded. [rt], after construction.
class OutputPorts {
public:
    explicit OutputPorts(const Settings&); // [worker]

    /// Copies a block that was computed. `out`: for each port block_size samples, or null if it isn't linked. false: a
    /// bus had NaN or infinity.
    bool write(const Buses&, int32_t block, float* const* out) noexcept SCS_NONBLOCKING;
    /// A block is missing: fades out and stays silent; the next block fades in.
    void write_missing(float* const* out) noexcept SCS_NONBLOCKING;

    /// Whether one of the output buses has a sample that isn't a finite number.
    bool any_bad(const Buses&, int32_t block) const noexcept SCS_NONBLOCKING;

private:
    struct Port {
        float last = 0;       ///< the last sample that was written
        bool missing = false; ///< the last block was
    };
    void fade_out(Port&, float* out) noexcept SCS_NONBLOCKING;

    int frames_;
    float limit_; ///< absolute; 0: none
    bool checks_; ///< false: offline, where a file gets what scsynth writes
    std::vector<Port> ports_;
};

} // namespace scs
