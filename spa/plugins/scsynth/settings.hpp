// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/result.hpp"
#include "osc/server.hpp"

#include <spa/utils/dict.h>

#include <string>
#include <utility>
#include <vector>

namespace scs::spa {

/// What a node is made with.
struct NodeSettings {
    osc::ServerSettings server;
    int sample_rate = 0;       ///< Hz that the engine keeps whatever the graph's rate; 0: it follows the graph
    double graph_rate = 48000; ///< Hz, of a host that doesn't tell it in each cycle
    /// Node properties that the host gave and that may replace ours: name, description, always-process, …
    std::vector<std::pair<std::string, std::string>> given;
    /// One line each for settings that are known but have no effect, or aren't known at all.
    std::vector<std::string> warnings;
};

/// [main] Reads a factory's info dict: the `scsynth.*` keys, `clock.quantum-limit`, `clock.rate` and what may replace
/// our properties. The error names the key, its value and what it may be. Null is an empty dict.
Result<NodeSettings> read_settings(const spa_dict* info);

} // namespace scs::spa
