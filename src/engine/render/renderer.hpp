// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/nonblocking.hpp"
#include "engine/ensemble/ensemble.hpp"
#include "engine/tree/tree.hpp"

#include <cstdint>

namespace scs {

struct BlockInputs;
class FaultLanding;
class OutputPorts;

/// Computes blocks of what is in a tree: in a walk, synth by synth in the order of the nodes, in which new ones start
/// and those that end are freed; or several blocks at once, if nothing of that is to be done. [rt], after construction.
class Renderer {
public:
    Renderer(Tree& tree, const Buses& buses, Ensemble& ensemble, Outbox& outbox, Deadline& deadline) noexcept
        : tree_(tree),
          buses_(buses),
          ensemble_(ensemble),
          turns_(ensemble.turns()),
          ahead_(ensemble.ahead()),
          outbox_(outbox),
          deadline_(deadline) {}

    /// Computes one block of all nodes that run, in tree order. false: the deadline passed before the end, and what is
    /// on the buses is of no use.
    bool render() noexcept SCS_NONBLOCKING;
    /// Does what render() does, for a number of blocks at once, the ensemble's present one first. That is possible if
    /// nothing else is to be done in them than to compute what runs, and nothing happens between them. Returns how many
    /// are computed: fewer if the deadline has passed, -1 if it isn't possible.
    int render_blocks(int blocks, const BlockInputs&) noexcept SCS_NONBLOCKING;

    /// In the next blocks, finds the group with whose end there is NaN or infinity on an output bus, and logs it once.
    void find_bad_output(const OutputPorts& ports) noexcept { suspects_ = &ports; }

private:
    /// When new voices start: those that may, before the block that is listed, or all in its walk.
    enum class Starts { before, in_walk };

    bool walk(FaultLanding&);
    bool first_block(Synth&, FaultLanding&);
    bool finish_start() noexcept SCS_NONBLOCKING;
    bool start_neighbours(Synth&) noexcept SCS_NONBLOCKING;
    bool take_turn(Synth&) noexcept SCS_NONBLOCKING;
    bool render(Synth&, FaultLanding&);
    void look_at_output(const Group&) noexcept SCS_NONBLOCKING;
    static bool is_walked(const Group&) noexcept SCS_NONBLOCKING;
    template <class Enters, class Visit>
    bool visit_synths(Enters&&, Visit&&) noexcept SCS_NONBLOCKING;
    bool list_items(Starts) noexcept SCS_NONBLOCKING;
    bool join_neighbours() noexcept SCS_NONBLOCKING;
    bool search_partners() noexcept SCS_NONBLOCKING;
    bool start_before_block(Synth&) noexcept SCS_NONBLOCKING;
    void perform_endings(int blocks) noexcept SCS_NONBLOCKING;
    /// Before anything but a voice's turn reaches a bus or changes a voice.
    void flush() noexcept {
        if (ahead_)
            ahead_->flush();
    }

    Tree& tree_;
    const Buses& buses_;
    Ensemble& ensemble_;
    Turns& turns_;
    Ahead* const ahead_; ///< null: there are no helpers
    Outbox& outbox_;
    Deadline& deadline_;
    Synth* running_ = nullptr;              ///< a synth of plugins' units that is being computed
    const OutputPorts* suspects_ = nullptr; ///< being searched for what makes them bad
};

} // namespace scs
