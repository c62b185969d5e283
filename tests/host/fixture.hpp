// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "fake/fake-server.hpp"
#include "host.hpp"

#include <cstdlib>

namespace scs::test {

/// A host with the node whose server is fake.
struct FakeHost : Host {
    FakeHost() : Host(std::getenv("SCS_FAKE_PLUGIN")) {
        fake.port_is_taken = false;
        fake.failure = nullptr;
        fake.ready = true;
        fake.input_delay = 0;
        fake.synths = 0;
        fake.idle_work = 0;
        fake.in_process = nullptr;
        fake.idle_calls = 0;
        fake.resets = 0;
        fake.warnings.clear();
    }
    FakeServer& fake = *reinterpret_cast<FakeServer* (*)()>(symbol("fake_server"))();
};

} // namespace scs::test
