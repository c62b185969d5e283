// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "host.hpp"
#include "osc-client.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

// What the tests of the real node share.
namespace scs::test {

constexpr spa_direction in = SPA_DIRECTION_INPUT, out = SPA_DIRECTION_OUTPUT;
constexpr int both = SPA_STATUS_HAVE_DATA | SPA_STATUS_NEED_DATA;

/// The plugin under test.
inline const char* library() {
    return std::getenv("SCS_PLUGIN");
}

/// A node with its own server and engine, and a client, ready to play.
struct Playing {
    Host& host;
    std::unique_ptr<HostNode> node;
    std::unique_ptr<OscClient> client;

    explicit Playing(Host& h, Host::Dict info = {}) : host(h) {
        info.insert(info.end(), {{"scsynth.osc.port", "0"}, {"scsynth.load-synthdefs", "false"}});
        node = host.create(info);
        REQUIRE(node);
        REQUIRE_MESSAGE(host.main().run_until([&] { return node->properties["scsynth.state"] != "starting"; }, 60000),
                        host.log().all());
        REQUIRE(node->properties["scsynth.state"] == "running");
        client = std::make_unique<OscClient>(std::stoi(node->properties["scsynth.osc.port"]));
    }

    /// No cycles run meanwhile: the engine's wake-up carries it out.
    void define(const std::string& name, const std::vector<DefUnit>& units) {
        client->send(osc_message("/d_recv", {synthdef_file(name, units)}));
        REQUIRE(client->sync());
    }
    void play(const std::string& name, int id) {
        client->send(osc_message("/s_new", {name, id, 0, 0}));
        REQUIRE(client->sync());
    }
    /// Runs cycles until everything sent has been carried out. Returns the addresses of the answers until then.
    std::vector<std::string> settle(uint32_t frames = 64) {
        std::vector<std::string> answers;
        for (int waited = 0; waited < 20000; ++waited) {
            if (waited % 500 == 0) // sent again, because a storm of notifications may have filled the client's socket
                client->send(osc_message("/sync", {++settled_}));
            host.cycle(frames);
            for (std::string address; !(address = client->receive(1)).empty(); answers.push_back(address))
                if (address == "/synced")
                    return answers;
        }
        FAIL("/sync isn't answered");
        return answers;
    }

private:
    int32_t settled_ = 0;
};

/// SinOsc at `hertz` on bus 0.
inline std::vector<DefUnit> sine(float hertz) {
    return {{"SinOsc", {{-1, hertz}, {-1, 0}}}, {"Out", {{-1, 0}, {0, 0}}, false}};
}

/// A single sample of 1 on bus 0, in the frame in which the synth starts.
inline const std::vector<DefUnit> click = {{"Impulse", {{-1, 0}, {-1, 0}}}, {"OffsetOut", {{-1, 0}, {0, 0}}, false}};

/// Bus 2, the first input, to bus 0.
inline const std::vector<DefUnit> through = {{"In", {{-1, 2}}}, {"Out", {{-1, 0}, {0, 0}}, false}};

} // namespace scs::test
