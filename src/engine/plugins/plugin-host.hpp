// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/nonblocking.hpp"

#include <cstdint>

namespace scs {

class Command;
struct Node;
struct Synth;
struct SynthEvent;

/// What plugins' code may ask of the engine, besides the memory, buffers and events that PluginWorld has. [rt] unless a
/// function says otherwise.
class PluginHost {
public:
    /// The node of that ID, or null.
    virtual Node* find_node(int32_t id) noexcept = 0;
    /// Marks the node to be freed when the walk next reaches it.
    virtual void end_node(Node&) noexcept = 0;
    virtual void set_run(Node&, bool run) noexcept = 0;
    /// Frees a synth that UnitGraph::leave() has kept.
    virtual void free_left(Synth&) noexcept SCS_NONBLOCKING = 0;
    /// A synth tells something, for bindings.
    virtual void hear(const SynthEvent&) noexcept SCS_NONBLOCKING = 0;
    /// [worker or a plugin's own thread] Returns a command to the data loop after its work(). false: the queue is full.
    virtual bool finish_job(Command*) noexcept = 0;

protected:
    ~PluginHost() = default;
};

} // namespace scs
