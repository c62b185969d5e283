// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "cli/command-line.hpp"
#include "cli/environment.hpp"

#include <functional>
#include <map>
#include <string>

namespace scs::cli {

/// What is known of the daemon.
struct DaemonFacts {
    std::string rate;          ///< default.clock.rate
    std::string quantum_limit; ///< default.clock.quantum-limit
    bool has_named_loops = false;
    /// Whether a text names a node, or a device by what its card is called.
    std::function<bool(const std::string&)> has_node;
    /// That name, or one made of it that no other node has.
    std::function<std::string(const std::string&)> free_name;
};

struct NodeRequest {
    std::map<std::string, std::string> properties; ///< for the node's factory
    std::optional<PortList> outputs, inputs;       ///< what this program is to link, in place of the policy
    std::vector<std::string> warnings;             ///< what the daemon hasn't got, one sentence each
};

/// The node that a command line and the environment ask for. Where both name something, the command line counts.
NodeRequest node_request(const CommandLine& line, const Environment& environment, const DaemonFacts& daemon);

} // namespace scs::cli
