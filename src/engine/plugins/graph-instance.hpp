// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What a UnitGraph is made of, for its own files: graph-layout.cpp, graph-controls.cpp, graph-rest.cpp and
// unit-graph.cpp.

#include "engine/base/looks.hpp"
#include "engine/base/nonblocking.hpp"
#include "engine/guard/fault-guard.hpp"
#include "engine/plugins/buffer-check.hpp"
#include "engine/plugins/own-ticks.hpp"
#include "engine/plugins/plugin-world-abi.hpp"
#include "engine/plugins/registry.hpp"
#include "engine/plugins/unit-command.hpp"
#include "engine/plugins/unit-graph.hpp"
#include "engine/synthdef/program.hpp"
#include "engine/ugens/kernel.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>

namespace scs {

// Packed tightly, so that many synths fit into the caches. Plugins can't rely on more: scsynth aligns to 8.
constexpr size_t aligned(size_t bytes) noexcept {
    return (bytes + 15) & ~size_t(15);
}

inline size_t ports(const UnitPlan& unit) noexcept {
    return size_t(unit.num_inputs) + unit.num_outputs;
}

inline const Kernel* kernel_of(UnitKernels kernels, uint32_t unit) noexcept {
    return kernels.empty() ? nullptr : kernels[unit];
}

/// The UGen that a unit is an instance of. The ABI leaves its definition pointer to the server: it points to our entry.
inline const UgenEntry& entry_of(const ::Unit& unit) noexcept {
    return *reinterpret_cast<const UgenEntry*>(unit.mUnitDef);
}
inline const UgenEntry& entry_of(const UnitPlan& plan) noexcept {
    return *static_cast<const UgenEntry*>(plan.ugen->entry);
}

/// Whether the unit has a BufferCheck.
inline bool is_checked(const UnitPlan& unit, const Kernel* kernel) noexcept {
    return !kernel && entry_of(unit).need;
}

/// Hands out pieces of one block of memory.
class Cursor {
public:
    Cursor() = default;
    explicit Cursor(void* memory) noexcept : at_(static_cast<std::byte*>(memory)) {}
    std::byte* at() const noexcept { return at_; }
    template <class T>
    T* take(size_t count) noexcept {
        auto* piece = reinterpret_cast<T*>(at_);
        at_ += aligned(count * sizeof(T));
        return piece;
    }

private:
    std::byte* at_ = nullptr;
};

/// A unit of ours between an input and the unit that reads it, and the wire that this reads. Clients don't see it.
struct HiddenUnit {
    ::Unit unit;
    ::Wire wire;
    const float* from;

    /// Has `reader` read its input through this unit, which run() computes and which writes to `to`. The memory is
    /// zeroed before.
    void divert(::Unit& reader, uint32_t input, float* to, UnitCalcFunc run) noexcept;
};

/// In front of a unit that has an InputGuard.
struct GuardUnit : HiddenUnit {
    const InputGuard* guard;
    const float* high;
    float limit; ///< the upper one, if the guard has it in samples, or by the block

    static void run(::Unit* unit, int) {
        auto& self = *reinterpret_cast<GuardUnit*>(unit);
        const float high = self.guard->in_bins ? bins_of_chain(*unit, *self.high) : *self.high;
        self.wire.mScalarValue = self.guard->apply(*self.from, high);
    }
};

/// In front of a unit that has an InputMend. A block of samples follows it in memory, and one more, which a few units
/// read, too.
struct MendUnit : HiddenUnit {
    InputMend::Kind kind;
    uint32_t before; ///< the unit whose input it is
    int32_t frames;

    static size_t bytes(int block_size) noexcept {
        return aligned(sizeof(MendUnit)) + (size_t(block_size) + 1) * sizeof(float);
    }
    float* samples() noexcept {
        return reinterpret_cast<float*>(reinterpret_cast<std::byte*>(this) + aligned(sizeof *this));
    }

    static void run(::Unit* unit, int) {
        auto& self = *reinterpret_cast<MendUnit*>(unit);
        if (self.kind == InputMend::Kind::absolute)
            *self.samples() = std::fabs(*self.from);
        else
            std::fill_n(self.samples(), self.frames, *self.from);
    }
};

/// An instance: the plugin ABI's graph, followed by our own fields. UnitGraph itself has no state.
struct Instance {
    AbiGraph hosted;
    AbiGraphOf315* graph_of_315; ///< in memory of the instance; null: none of its units sees it
    OwnTicks* own;               ///< the same; null: its blocks and its rate are the server's
    const Program* program;
    UnitKernels kernels;
    int frames;                        ///< of its blocks
    Block block;                       ///< what the kernels are called with
    Space* home;                       ///< the data loop's own, to which `block` belongs unless another thread was last
    float* wires;                      ///< where the audio wires are
    float* own_wires;                  ///< wires of its own, a piece of the pool; null: it uses those of the thread
    UnitRate audio_rate, control_rate; ///< of the block
    Rates rates;                       ///< what the plugins' units point to
    PluginWorld* world;
    GuardUnit* guards;
    uint32_t num_guards;
    std::byte* mends; ///< MendUnits and their samples
    uint32_t num_mends;
    /// How far it has been laid out: the memory that isn't cleared yet, where the next units and inputs come to, and
    /// how many constants and units there are.
    struct LayOut {
        std::byte *dirty, *end;
        Cursor calc_units, other_units, ports;
        uint32_t constants, units;
        size_t guard, mend; ///< the program's next
    } lay_out;
    uint32_t jobs;      ///< commands of its units that are under way
    bool left;          ///< it is out of the tree
    uint32_t built;     ///< how many units' constructors were called
    uint32_t destroyed; ///< and of these, destructors
    bool constructed;
    /// The unit that is running: its index among all units, or among those that are called each block.
    struct Running : GuardedPieces {
        const Instance* instance;
        bool among_called;
    } running;
    const char* crashed_ugen;
    FaultGuard::Ending crash_kind;
    bool crash_told;
    UnitCommandQueue early_commands;
    /// Which units need not be computed. In memory of the instance, unless none may be at rest.
    struct Rest {
        const std::vector<bool>* may; ///< be at rest, of each unit; null: none
        bool all_awake;
        Looks looks;
        uint32_t* awake; ///< unless all are: the units that are computed, as indices into mCalcUnits …
        uint32_t count;  ///< … and how many
        bool* units;     ///< unless all are awake: of each unit, whether it is at rest
    } rest;

    static Instance& of(const ::Unit& unit) noexcept { return reinterpret_cast<Instance&>(graph_of(unit)); }
    static Instance& of(UnitGraph* graph) noexcept { return *reinterpret_cast<Instance*>(graph); }
    static const Instance& of(const UnitGraph* graph) noexcept { return *reinterpret_cast<const Instance*>(graph); }
    ::Graph& graph() noexcept { return hosted.abi; }
    const ::Graph& graph() const noexcept { return hosted.abi; }
    MendUnit& mend(size_t index) const noexcept {
        return *reinterpret_cast<MendUnit*>(mends + index * aligned(MendUnit::bytes(program->most_frames)));
    }

    // ---- layout

    /// Everything that UnitGraph::make() has left to do. false: the deadline passed before the end.
    bool finish_layout(Deadline&) noexcept;
    /// Which blocks and which rate it has, once its controls are set. (graph-ticks.cpp)
    void settle_rate() noexcept SCS_NONBLOCKING;
    void add_constant(uint32_t index) noexcept;
    void add_unit(uint32_t index) noexcept;
    /// `called`: the unit is, each block.
    void add_guard(const InputGuard&, ::Unit&, bool called) noexcept;
    void add_mend(const InputMend&, ::Unit&) noexcept;
    void begin_graph_of_315() noexcept;
    /// The unit is called in each block; of the server's alone, if it runs once in each.
    void add_called(::Unit&, bool once) noexcept;
    /// What one of the two graphs has got from a unit, the other gets, too: the synth's buffers and its generator.
    void share(const ::Unit& from) noexcept;

    // ---- running

    /// Calls run(unit) for these units, one after the other, as long as goes_on(index) before each of them.
    template <class GoesOn, class Run>
    [[gnu::always_inline]] void each_unit(::Unit** units, uint32_t first, uint32_t count, GoesOn&& goes_on, Run&& run) {
        // Units are many and often small: unrolled, as in scsynth, the loop takes a quarter less time.
#pragma GCC unroll 8
        for (uint32_t i = first; i < count; ++i) {
            if (!goes_on(i))
                return;
            running.at = i;
            run(units[i]);
        }
    }
    /// The same for the units that are called each block, but those at rest.
    template <class GoesOn, class Run>
    [[gnu::always_inline]] void each_awake(GoesOn&& goes_on, Run&& run) {
        if (own)
            return each_tick(goes_on, run);
        const bool looks = rest.may && rest.looks.now();
        if (!looks && (!rest.may || rest.all_awake))
            return each_unit(graph().mCalcUnits, 0, graph().mNumCalcUnits, goes_on, run);
        if (looks)
            return look(goes_on, run);
        for (uint32_t i = 0; i < rest.count; ++i) {
            if (!goes_on(i))
                return;
            running.at = rest.awake[i];
            run(graph().mCalcUnits[running.at]);
        }
    }
    /// The same for all of its blocks in one of the server's.
    template <class GoesOn, class Run>
    void each_tick(GoesOn&& goes_on, Run&& run) {
        uint32_t count = 0; // of all ticks
        for (begin_ticks(); own->current < own->count; end_tick()) {
            const bool all = own->is_first();
            for (uint32_t i = 0; i < (all ? graph().mNumCalcUnits : own->each_count); ++i) {
                if (!goes_on(count++))
                    return;
                running.at = all ? i : own->each[i];
                run(graph().mCalcUnits[running.at]);
            }
        }
    }
    void begin_ticks() noexcept SCS_NONBLOCKING;
    void free_wires() noexcept SCS_NONBLOCKING;
    void end_tick() noexcept {
        (void)own->go_on();
        if (graph_of_315)
            graph_of_315->abi.mTickCounter = uint32_t(std::max(own->current, 0));
    }
    /// The same, and finds out which of them are at rest from now on.
    template <class GoesOn, class Run>
    void look(GoesOn&& goes_on, Run&& run) {
        if (rest.all_awake)
            list_all();
        const uint32_t count = rest.count;
        uint32_t kept = 0;
        for (uint32_t i = 0; i < count; ++i) {
            if (!goes_on(i))
                return wake();
            running.at = rest.awake[i];
            ::Unit* const unit = graph().mCalcUnits[running.at];
            std::array<std::byte, most_resting_state> before;
            const std::span<std::byte> state = state_if_it_may_rest(*unit);
            std::copy(state.begin(), state.end(), before.begin());
            run(unit);
            if (state.data() && std::equal(state.begin(), state.end(), before.begin()))
                rest.units[unit->mParentIndex] = true;
            else
                rest.awake[kept++] = running.at;
        }
        rest.count = kept;
    }
    /// The same under guard. false: one of them crashed.
    template <class GoesOn, class Run>
    bool each_guarded(::Unit** units, uint32_t first, uint32_t count, GoesOn&& goes_on, Run&& run) noexcept {
        running.among_called = units == graph().mCalcUnits;
        return guarded([&] { each_unit(units, first, count, goes_on, run); });
    }
    template <class Run>
    bool guarded(Run&& run) noexcept {
        const bool well = FaultGuard::run(run, &running);
        if (!well)
            crash(running_name());
        return well;
    }
    /// false: the unit crashed.
    bool run_command(::Unit*, const UnitCommand&, std::span<const std::byte> arguments,
                     const ReplyTo& from) noexcept SCS_NONBLOCKING;
    void crash(const char* ugen) noexcept {
        crashed_ugen = ugen;
        crash_kind = FaultGuard::last_ending();
    }
    /// The name of the UGen at an index of all units, or of those that are called each block. Looks at the program
    /// alone, as a crash may have overwritten the units.
    const char* name_of(uint32_t index, bool among_called) const noexcept;
    const char* running_name() const noexcept {
        return name_of(running.at, running.among_called);
    }
    static const char* name_of_running(const GuardedPieces& pieces) noexcept {
        return static_cast<const Running&>(pieces).instance->running_name();
    }

    // ---- what is at rest

    /// All units are awake: a control is set, or has another source.
    void wake() noexcept {
        rest.all_awake = true;
        rest.looks.restart();
    }
    /// Puts all units into the list of those that are awake.
    void list_all() noexcept SCS_NONBLOCKING;
    /// The state of a native unit that may be at rest and whose inputs are; else none: null.
    std::span<std::byte> state_if_it_may_rest(::Unit&) const noexcept SCS_NONBLOCKING;

    // ---- on which thread

    /// It is computed with these from now on. [any thread that has it for itself]
    void use(float* wire_memory, Space& space, ::RGen* generator) noexcept;
    /// It is the data loop's again.
    void come_home() noexcept {
        if (block.space != home)
            use(world->wire_space(), *home, world->abi().world.abi.mRGen);
    }
};

} // namespace scs
