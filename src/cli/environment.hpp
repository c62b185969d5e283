// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace scs::cli {

/// The ports that one of scsynth's SC_JACK_DEFAULT_INPUTS and SC_JACK_DEFAULT_OUTPUTS asks for.
struct PortList {
    std::vector<std::string> names; ///< of JACK, our port i to name i; empty: no links
    bool is_pattern = false;        ///< one name without a colon: part of the names of the ports, a regular expression
};

/// What the environment asks of a node, by variables that scsynth, pipewire-jack and PipeWire's streams read.
struct Environment {
    std::map<std::string, std::string> properties; ///< the node's, by PIPEWIRE_*
    /// By SC_JACK_DEFAULT_OUTPUTS and _INPUTS. Nothing: the default devices, also for "system", which sclang sets.
    std::optional<PortList> outputs, inputs;
    std::vector<std::string> warnings; ///< variables that can't be obeyed, one sentence each
};

/// Reads the variables; `variable` is getenv() or the like.
/// - PIPEWIRE_PROPS: properties, as in PipeWire's configuration. Those of scsynth.* and what makes the node ours
///   (factory.name …) are left out.
/// - PIPEWIRE_QUANTUM: "frames/Hz", forced on the graph. PIPEWIRE_LATENCY: the same, asked for. PIPEWIRE_RATE: "1/Hz".
/// - PIPEWIRE_NODE: the node to link to, by name or serial. PIPEWIRE_AUTOCONNECT: whether to link at all.
/// [any but rt]
Environment read_environment(const std::function<const char*(const char*)>& variable);

} // namespace scs::cli
