// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

namespace scs {

class Command;
struct Node;
struct Synth;

/// What plugins' code may ask of the engine around its World, besides memory, buffers and events. [rt] unless said
/// otherwise.
class PluginHost {
public:
    /// The node of that ID, or null.
    virtual Node* find_node(int32_t id) noexcept = 0;
    /// Frees the node when its turn comes next.
    virtual void end_node(Node&) noexcept = 0;
    virtual void set_run(Node&, bool run) noexcept = 0;
    /// What a unit of this synth asks for when it is done: 0 to 15.
    virtual void done_action(int action, Synth&) noexcept = 0;
    /// [worker or a plugin's own thread] Gives a command back after its work(). false: full.
    virtual bool finish_job(Command*) noexcept = 0;

protected:
    ~PluginHost() = default;
};

} // namespace scs
