// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/nonblocking.hpp"

#include <cstdint>
#include <span>
#include <string_view>

namespace scs {

struct Synth;

/// What hears what units tell. [rt], in the turns of the synths: what there is no room for is dropped and counted.
class SynthListener {
public:
    /// What SendTrig sends. `frame`: of the block.
    virtual void trigger(const Synth&, int frame, int32_t id, float value) noexcept SCS_NONBLOCKING = 0;
    /// What SendReply sends. `path`: the address of the message.
    virtual void reply(const Synth&, int frame, int32_t id, std::string_view path,
                       std::span<const float> values) noexcept SCS_NONBLOCKING = 0;
    /// What Poll prints. The label ends where it has a 0. `frame`: what Dpoll prints besides, or -1.
    virtual void poll(std::string_view label, float value, int frame) noexcept SCS_NONBLOCKING = 0;

protected:
    ~SynthListener() = default;
};

} // namespace scs
