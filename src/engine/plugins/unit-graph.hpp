// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/status.hpp"
#include "engine/nodes/node.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace scs {

class FaultLanding;
class PluginWorld;
struct Block;
struct Kernel;
struct Program;

/// Native kernels in place of some of a program's units: of each unit one or null; none at all if empty.
using UnitKernels = std::span<const Kernel* const>;

/// One instance of a Program made of plugin units: SuperCollider's Graph, Units and Wires, laid out in one piece
/// of pool memory. [rt] only.
class UnitGraph {
public:
    /// Bytes that an instance of `program` needs, 64-byte aligned.
    static size_t bytes(const Program& program, UnitKernels) noexcept;
    /// Lays an instance out in `memory`; its units' constructors have not run yet. `kernels` live as long as the
    /// program; `block`: of a lone voice, what they are to run with.
    static UnitGraph* make(void* memory, const Program&, UnitKernels kernels, const Block& block, PluginWorld&,
                           Synth& owner, const float* controls) noexcept;

    /// Runs the constructors, in order, and the unit commands that came before them. False: one of them crashed, and
    /// the instance must not run any more.
    bool construct() noexcept;
    /// One block under a guard of the caller's, which must tell crash() if it was ended. Passes exceptions on.
    void render(FaultLanding&);
    /// A unit has crashed in render(FaultLanding&): the instance must not run any more.
    void crash() noexcept;
    /// One block, printing every unit's inputs and outputs (their first samples). False: a unit crashed, and the
    /// instance must not run any more.
    bool render_traced() noexcept;
    /// Gives a command to a unit (/u_cmd), at once or after the constructors. `arguments` as for run_buf_gen().
    /// index_out_of_range if there is no such unit, failed if it doesn't know the command; if `crashed()`, the
    /// instance must not run any more.
    Status command(int64_t unit, std::string_view name, std::span<const std::byte> arguments) noexcept;
    /// Runs the destructors, if the constructors ran and nothing has crashed.
    void destroy() noexcept;
    /// The UGen that crashed, or null.
    const char* crashed_ugen() const noexcept;
    bool crashed() const noexcept { return crashed_ugen(); }
    bool constructed() const noexcept;
    /// What plugins know the synth as.
    void* node() noexcept;

    int control_count() const noexcept;
    float control(int index) const noexcept;           ///< the value, also of a mapped control
    void set_control(int index, float value) noexcept; ///< also unmaps it
    void map_to_control_bus(int index, int bus) noexcept;
    void map_to_audio_bus(int index, int bus) noexcept;
    void unmap(int index) noexcept;
    Mapping mapping(int index, int& bus) const noexcept;
    /// The node ID that units see.
    void set_id(int32_t id) noexcept;
};

} // namespace scs
