// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/engine-status.hpp"
#include "engine/base/result.hpp"
#include "engine/base/settings.hpp"
#include "engine/control/control-event.hpp"
#include "engine/control/control-outputs.hpp"
#include "engine/control/transport.hpp"
#include "engine/rt/deadline.hpp"
#include "engine/rt/ntp-time.hpp"

#include <atomic>
#include <cstdint>
#include <span>

namespace scs {

/// Stands in for engine/engine.hpp where the node is built for its tests: the part of the engine that the node
/// knows, playing what fake-server.hpp says.
class Engine {
public:
    explicit Engine(const Settings& settings) : settings_(settings) {}

    static void prepare_process() {}
    static void prepare_thread() noexcept {}
    static bool watch_thread() noexcept { return true; }
    static void unwatch_thread() noexcept {}
    void process(int frames, NtpTime frame0, double rate, const float* const* in, float* const* out,
                 const CycleLimit& = {}, std::span<const ControlEvent> events = {},
                 std::span<const Transport> transports = {}) noexcept;
    bool run_idle(double rate = 0) noexcept;
    int input_delay() const noexcept;
    void reset_carry() noexcept;
    const Settings& settings() const noexcept { return settings_; }
    ControlOutputs& control_outputs() noexcept { return control_outputs_; }
    EngineStatus& status() noexcept { return status_; }

private:
    Settings settings_;
    EngineStatus status_;
    ControlOutputs control_outputs_;
    int64_t played_ = 0;
};

} // namespace scs
