// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/control/control-event.hpp"
#include "engine/control/transport.hpp"
#include "engine/rt/ntp-time.hpp"
#include "osc/server.hpp"

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

namespace scs::test {

/// What the fake server does and has seen, for all nodes of the library. Its function fake_server() returns it.
struct FakeServer {
    // Set by the test.
    std::atomic<bool> port_is_taken{false};
    std::atomic<const char*> failure{nullptr}; ///< why no server starts
    std::atomic<bool> ready{true};             ///< whether a server has an engine as soon as it starts
    std::atomic<int> input_delay{0};
    std::atomic<int> synths{0};
    std::atomic<int> idle_work{0};               ///< how many calls of run_idle() have something to do
    std::atomic<void (*)()> in_process{nullptr}; ///< called in each process(), to inject a fault

    // Seen by the engine.
    std::atomic<int> frames{0}, idle_calls{0}, resets{0}, servers{0};
    std::atomic<double> rate{0}, idle_rate{0};
    std::atomic<int64_t> deadline{0}; ///< of the last cycle
    std::atomic<bool> renders{true};
    std::atomic<bool> resting{false}; ///< rest() was called
    std::atomic<NtpTime> frame0{0};
    std::atomic<uint64_t> inputs_seen{0}; ///< bit i: in[i] wasn't null

    osc::Driver driver;               ///< of the last cycle
    std::vector<ControlEvent> events; ///< of the last cycle; read between cycles
    std::vector<Transport> transports =
        std::vector<Transport>(64);    ///< the last ones; there is room: cycles may be guarded
    Transport transport;               ///< the first of these
    std::vector<std::string> warnings; ///< on the main loop

    /// The settings of the newest server. Tests call its callbacks, as an OSC thread would.
    osc::ServerSettings settings;
    osc::PacketCounters* counters = nullptr;
};

} // namespace scs::test
