// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "cli/command-line.hpp"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace scs::cli {

/// What is known of the daemon.
struct DaemonFacts {
    std::string rate;          ///< default.clock.rate
    std::string quantum_limit; ///< default.clock.quantum-limit
    bool has_named_loops = false;
    /// The node.name of the node of that name or description, empty if there is none.
    std::function<std::string(const std::string&)> find_node;
};

struct NodeRequest {
    std::map<std::string, std::string> properties; ///< for the node's factory
    std::vector<std::string> warnings;             ///< what the daemon hasn't got, one sentence each
};

/// The node that a command line asks for.
NodeRequest node_request(const CommandLine& line, const DaemonFacts& daemon);

} // namespace scs::cli
