// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/world/test-reader.hpp"
#include "osc/test-rig.hpp"

#include <sys/stat.h>

using namespace scs;
using namespace scs::osc;
using namespace scs::osc::testing;
using scs::test::ShmReader;

namespace {

std::string segment_of(Rig& rig) {
    return "SuperColliderServer_" + std::to_string(rig.server().port());
}

bool exists(const std::string& segment) {
    struct stat info;
    return ::stat(("/dev/shm/" + segment).c_str(), &info) == 0;
}

} // namespace

TEST_CASE("a client on the same machine shares the control buses") {
    Rig rig;
    Client client(rig);
    ShmReader reader(segment_of(rig));
    client.send("/c_set", {7, 0.5f});
    client.send("/sync", {1});
    REQUIRE(client.receive() == "/synced 1");
    CHECK(reader.control_buses()[7] == 0.5f);
    reader.control_buses()[8] = 2.5f;
    client.send("/c_get", {8});
    CHECK(client.receive() == "/c_set 8 2.5f");
}

TEST_CASE("two servers have a segment each, which goes with its server") {
    Rig first;
    std::string gone;
    {
        Rig second;
        Client client(second);
        gone = segment_of(second);
        ShmReader one(segment_of(first)), two(gone);
        client.send("/c_set", {0, 1.f});
        client.send("/sync", {1});
        REQUIRE(client.receive() == "/synced 1");
        CHECK(one.control_buses()[0] == 0.f);
        CHECK(two.control_buses()[0] == 1.f);
    }
    CHECK_FALSE(exists(gone));
    CHECK(exists(segment_of(first)));
}

TEST_CASE("it is gone after /quit, and not there if it isn't wanted") {
    Rig rig;
    Client client(rig);
    REQUIRE(exists(segment_of(rig)));
    client.send("/quit");
    REQUIRE(rig.wait_for_quit());
    CHECK_FALSE(exists(segment_of(rig)));

    ServerSettings settings;
    settings.shared_memory = false;
    Rig without(settings);
    CHECK_FALSE(exists(segment_of(without)));
    Client other(without);
    other.send("/c_set", {7, 0.5f});
    other.send("/c_get", {7});
    CHECK(other.receive() == "/c_set 7 0.5f");
}
