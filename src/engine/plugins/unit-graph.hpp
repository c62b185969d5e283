// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/nonblocking.hpp"
#include "engine/base/status.hpp"
#include "engine/messages/reply-to.hpp"
#include "engine/nodes/node.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace scs {

class Deadline;
class FaultLanding;
class PluginWorld;
struct Block;
struct Space;
struct Kernel;
struct Program;

/// Native kernels that replace some of a program's units: one for each unit, null where the unit stays. Empty: none.
using UnitKernels = std::span<const Kernel* const>;

/// An instance of a Program made of plugin units: SuperCollider's Graph, Units and Wires in one piece of pool memory.
/// [rt] only, but for sizes().
class UnitGraph {
public:
    /// Bytes of an instance's memory.
    struct Sizes {
        size_t whole = 0;
        size_t calc_units = 0, other_units = 0; ///< of that: the units that are called in each block, and the others
    };
    /// [any] What an instance of `program` needs. rest: whether some of the kernels' units may be at rest.
    static Sizes sizes(const Program& program, UnitKernels, UnitKernels kernels_of_ticks, bool rest) noexcept;
    /// Makes an instance in `memory`, which must be 64-byte aligned, with its controls; construct() does the rest.
    /// `kernels` must live as long as the program, as must `may_rest`: which of those units need not be computed while
    /// their inputs and states stay; empty: none. `block`: what the kernels are called with, as for a lone voice.
    /// If the program asks for blocks or a rate of its own, what construct() finds in the controls says which it has;
    /// kernels_of_ticks: those of `kernels` that it may use with any number of frames.
    static UnitGraph* make(void* memory, const Sizes&, const Program&, UnitKernels kernels,
                           UnitKernels kernels_of_ticks, const std::vector<bool>& may_rest, const Block& block,
                           PluginWorld&, Synth& owner, const float* controls) noexcept SCS_NONBLOCKING;

    /// Lays out the units, runs their constructors, in order, then the unit commands that came before. If the deadline
    /// passes, the next call goes on from there; the instance is constructed() after the last. false: one of them
    /// crashed; the instance must not run any more.
    bool construct(Deadline&) noexcept;
    /// Computes a block under the caller's guard. If a fault ends it, the caller must call crash(). Exceptions pass
    /// through.
    void render(FaultLanding&);
    /// The same for an instance that takes long: stops after the unit in which the deadline passes. `cost`: of all
    /// units, ns.
    void render(FaultLanding&, Deadline&, int64_t cost);
    enum class Outcome : uint8_t { whole, stopped, crashed };
    /// Computes a block on any thread, while no other thread touches the instance. `wires`: memory of that thread's own
    /// for the audio wires, as much as PluginWorld::wire_space(); null: that one. `space`: what native units are called
    /// with, whose generator and done actions plugins' units use, too. `stops` is asked now and then: then the block
    /// is of no use. If a unit has crashed, the instance must not run any more.
    Outcome compute(float* wires, Space& space, bool (*stops)(void*) noexcept, void* asked) noexcept SCS_NONBLOCKING;
    /// On any thread as compute(), of an instance that has ended itself: writes to buses what its destructors would, so
    /// that they have nothing left to write.
    void write_tails(Space& space) noexcept SCS_NONBLOCKING;
    /// To be called when a unit has crashed in render(): the instance must not run any more.
    void crash() noexcept SCS_NONBLOCKING;
    /// Computes a block and prints every unit's inputs and outputs (their first samples). false: a unit crashed; the
    /// instance must not run any more.
    bool render_traced() noexcept;
    /// Gives a command to a unit (/u_cmd), at once or, if they are still to run, after the constructors. `arguments` as
    /// for run_buf_gen(). Errors: index_out_of_range if there is no such unit, failed if it doesn't have the command.
    /// `from`: whom it may answer. If it crashed (see crashed()), the instance must not run any more.
    Status command(int64_t unit, std::string_view name, std::span<const std::byte> arguments,
                   const ReplyTo& from) noexcept SCS_NONBLOCKING;
    /// The synth is out of the tree. false: commands of its units are under way, which need it; then it must not be
    /// destroyed before PluginHost::free_left().
    bool leave() noexcept SCS_NONBLOCKING;
    /// Runs the destructors of the units whose constructors ran, unless something has crashed. false: the deadline
    /// passed before the end; to be called again. An instance of few units is destroyed at once.
    bool destroy(Deadline&) noexcept SCS_NONBLOCKING;
    /// [any] The inputs of the unit that this thread runs, or constructs; none if it runs no unit of a plugin.
    static std::span<const float* const> running_inputs() noexcept;
    /// The UGen that crashed, or null.
    const char* crashed_ugen() const noexcept SCS_NONBLOCKING;
    bool crashed() const noexcept { return crashed_ugen(); }
    /// Whether it has crashed and this hasn't been asked since.
    bool take_crash() noexcept SCS_NONBLOCKING;
    /// Whether it was ended because it seemed to go on for ever.
    bool took_too_long() const noexcept SCS_NONBLOCKING;
    bool constructed() const noexcept SCS_NONBLOCKING;
    /// The synth's node as plugins see it.
    void* node() noexcept;
    /// The same as plugins of PluginApi::v6 see it, or null if no unit of the synth is of that API.
    void* node_of_315() noexcept;

    int control_count() const noexcept SCS_NONBLOCKING;
    float control(int index) const noexcept SCS_NONBLOCKING; ///< the value that was set, even if the control is mapped
    void set_control(int index, float value) noexcept SCS_NONBLOCKING; ///< also unmaps it
    void map_to_control_bus(int index, int bus) noexcept SCS_NONBLOCKING;
    void map_to_audio_bus(int index, int bus) noexcept SCS_NONBLOCKING;
    void unmap(int index) noexcept SCS_NONBLOCKING;
    Mapping mapping(int index, int& bus) const noexcept SCS_NONBLOCKING;
    bool is_mapped(int index) const noexcept SCS_NONBLOCKING;
    /// The node ID that units see.
    void set_id(int32_t id) noexcept SCS_NONBLOCKING;
};

} // namespace scs
