// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/status/json.hpp"

#include "cli/status/test-contents.hpp"

#include <doctest/doctest.h>

#include <cmath>

using namespace scs::status;
using namespace scs::status::test;

TEST_CASE("all of it") {
    Contents some = contents();
    some.figures = {{"driver-node", 33}, {"load", 12.25f}, {"rate", 44100.0}, {"version", "1.2.3"}};
    CHECK(
        to_json(some, around(), "127.0.0.1", 57110) ==
        R"({"host":"127.0.0.1","port":57110,"server":{"driver_node":33,"load":12.25,"rate":44100,"version":"1.2.3"},"whole":true,"nodes":[
{"id":0,"type":"group","parent":null,"running":true,"parallel":false},
{"id":1,"type":"group","parent":0,"running":false,"parallel":false},
{"id":1000,"type":"synth","parent":1,"running":false,"synthdef":"default","controls":[{"index":0,"name":"freq","value":440.5},{"index":1,"name":null,"bus":"c4"},{"index":2,"name":"amp","value":0.1}]},
{"id":2,"type":"group","parent":0,"running":true,"parallel":true},
{"id":-8,"type":"synth","parent":2,"running":true,"synthdef":"x","controls":[]}],"synthdefs":[
{"name":"default","synths":1,"units":20,"native":true,"controls":[{"index":0,"name":"freq","default":440}]},
{"name":"x","synths":1,"units":1,"native":false,"controls":[]}],"buffers":[
{"number":3,"frames":100,"channels":2,"rate":44100,"streams":true}],"bindings":[
{"id":5,"command":"/bind_keys","arguments":["bass",1,0.5]}],"pipewire":{"node":"scsynth-57110","driver":"Built-in Audio","devices":[
{"type":"sink","name":"alsa_out","description":"Built-in Audio","channels":"FL,FR"},
{"type":"source","name":"alsa_in","description":"Mic","channels":""}]}})");
}

TEST_CASE("nothing, and what JSON has no number for") {
    CHECK(
        to_json({}, {}, "h", 1) ==
        R"({"host":"h","port":1,"server":{},"whole":true,"nodes":[],"synthdefs":[],"buffers":[],"bindings":[],"pipewire":null})");
    Contents odd;
    odd.buffers = {{1, 2, 3, NAN, false}};
    odd.nodes = {synth(1, 0, "x", {{"a", NAN}, {"b", -INFINITY}, {"c", 16777217.f}, {"d", 0.1f}, {"e", 3}})};
    odd.bindings = {{1, {}}};
    odd.whole = false;
    CHECK(
        to_json(odd, {}, "h", 1) ==
        R"({"host":"h","port":1,"server":{},"whole":false,"nodes":[)"
        "\n"
        R"({"id":1,"type":"synth","parent":0,"running":true,"synthdef":"x","controls":[{"index":0,"name":"a","value":null},{"index":1,"name":"b","value":null},{"index":2,"name":"c","value":16777216},{"index":3,"name":"d","value":0.1},{"index":4,"name":"e","value":3}]}],"synthdefs":[],"buffers":[)"
        "\n"
        R"({"number":1,"frames":2,"channels":3,"rate":null,"streams":false}],"bindings":[)"
        "\n"
        R"({"id":1,"command":"","arguments":[]}],"pipewire":null})");
}
