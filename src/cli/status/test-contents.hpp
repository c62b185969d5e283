// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "cli/status/contents.hpp"

#include <string>

namespace scs::status::test {

inline Node group(int32_t id, int32_t parent, bool runs = true, bool parallel = false) {
    Node node;
    node.id = id;
    node.parent = parent;
    node.is_group = true;
    node.runs = runs;
    node.parallel = parallel;
    return node;
}

inline Node synth(int32_t id, int32_t parent, const std::string& name, std::vector<Control> controls = {}) {
    Node node;
    node.id = id;
    node.parent = parent;
    node.synthdef = name;
    node.controls = std::move(controls);
    return node;
}

/// Something of everything.
inline Contents contents() {
    Contents all;
    all.figures = {{"program", "pw-scsynth"},
                   {"version", "1.2.3"},
                   {"supercollider", "3.13"},
                   {"driver", "api.alsa.0"},
                   {"driver-node", 33},
                   {"quantum", 480},
                   {"graph-rate", 48000.0},
                   {"rate", 44100.0},
                   {"block", 64},
                   {"threads", 2},
                   {"inputs", 2},
                   {"outputs", 4},
                   {"load", 12.25f},
                   {"peak", 20.f},
                   {"limit", 70.f},
                   {"memory", 8192},
                   {"memory-free", 8000},
                   {"paused", 3},
                   {"late", 0}};
    all.nodes = {group(0, -1), group(1, 0, false),
                 synth(1000, 1, "default", {{"freq", 440.5f}, {"", "c4"}, {"amp", 0.1f}}), group(2, 0, true, true),
                 synth(-8, 2, "x")};
    all.nodes[2].runs = false;
    all.synthdefs = {{"default", 1, 20, true, {{"freq", 440.f}}}, {"x", 1, 1, false, {}}};
    all.buffers = {{3, 100, 2, 44100, true}};
    all.bindings = {{5, {"/bind_keys", "bass", 1, 0.5f}}};
    return all;
}

inline Surroundings around() {
    return {true,
            "scsynth-57110",
            "Built-in Audio",
            {{true, "alsa_out", "Built-in Audio", "FL,FR"}, {false, "alsa_in", "Mic", ""}}};
}

} // namespace scs::status::test
