// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/ugens/synth-listener.hpp"

namespace scs {

class PluginWorld;

/// Sends what native units tell to where plugins' units send it (node-messages.hpp). [rt]
class SynthMessages final : public SynthListener {
public:
    explicit SynthMessages(PluginWorld& world) noexcept : world_(world) {}

    void trigger(const Synth&, int frame, int32_t id, float value) noexcept SCS_NONBLOCKING override;
    void reply(const Synth&, int frame, int32_t id, std::string_view path,
               std::span<const float> values) noexcept SCS_NONBLOCKING override;
    void poll(std::string_view label, float value, int frame) noexcept SCS_NONBLOCKING override;

private:
    PluginWorld& world_;
};

} // namespace scs
