// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/plugins/unit-graph.hpp"

#include "engine/base/text-line.hpp"
#include "engine/guard/fault-guard.hpp"
#include "engine/messages/outbox.hpp"
#include "engine/plugins/buffer-check.hpp"
#include "engine/plugins/native-unit.hpp"
#include "engine/plugins/osc-arguments.hpp"
#include "engine/plugins/plugin-world-abi.hpp"
#include "engine/plugins/plugin-world.hpp"
#include "engine/plugins/registry.hpp"
#include "engine/plugins/rendering-scope.hpp"
#include "engine/plugins/unit-command.hpp"
#include "engine/rt/deadline.hpp"
#include "engine/synthdef/program.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

namespace scs {
namespace {

// Packed tightly, so that many synths fit into the caches. Plugins can't rely on more: scsynth aligns to 8.
constexpr size_t aligned(size_t bytes) noexcept {
    return (bytes + 15) & ~size_t(15);
}

size_t ports(const UnitPlan& unit) noexcept {
    return size_t(unit.num_inputs) + unit.num_outputs;
}

/// The offset of a unit's pointers to its signals, which follow its state.
size_t signals_offset(const UnitPlan& unit, const Kernel* kernel) noexcept {
    const size_t bytes = kernel ? NativeUnit::bytes(unit, *kernel) : unit.ugen->unit_bytes;
    return (bytes + alignof(float*) - 1) & ~(alignof(float*) - 1);
}

bool is_checked(const UnitPlan& unit, const Kernel* kernel) noexcept {
    return !kernel && static_cast<const UgenEntry*>(unit.ugen->entry)->need;
}

size_t unit_bytes(const UnitPlan& unit, const Kernel* kernel) noexcept {
    const size_t check = is_checked(unit, kernel) ? sizeof(BufferCheck) : 0;
    return check + signals_offset(unit, kernel) + ports(unit) * sizeof(float*);
}

const Kernel* kernel_of(UnitKernels kernels, uint32_t unit) noexcept {
    return kernels.empty() ? nullptr : kernels[unit];
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

int16_t abi_rate(Rate rate) noexcept {
    switch (rate) {
    case Rate::control: return calc_BufRate;
    case Rate::audio: return calc_FullRate;
    case Rate::demand: return calc_DemandRate;
    default: return calc_ScalarRate;
    }
}

/// The UGen that a unit is an instance of. The ABI leaves its definition pointer to the server: it points to our entry.
const UgenEntry& entry_of(const ::Unit& unit) noexcept {
    return *reinterpret_cast<const UgenEntry*>(unit.mUnitDef);
}
const UgenEntry& entry_of(const UnitPlan& plan) noexcept {
    return *static_cast<const UgenEntry*>(plan.ugen->entry);
}

/// Makes a unit silent whose graph has just been laid out or has failed.
void keep_silent(::Unit* unit, int samples) {
    for (uint32_t i = 0; i < unit->mNumOutputs; ++i)
        std::memset(unit->mOutBuf[i], 0, size_t(samples) * sizeof(float));
}

void print_title(Outbox& outbox, TextLine& line, int index, const ::Unit& unit) noexcept {
    const FaultGuard::HostCode whole;
    line.add("  unit %d %s", index, entry_of(unit).info.name.c_str());
    outbox.print(line.take());
}

/// Block::own_buffer of a graph.
SampleBuffer own_buffer(void* synth, int32_t number) noexcept {
    const auto& graph = *static_cast<const ::Graph*>(synth);
    const int64_t index = int64_t(number) - graph.mNode.mWorld->mNumSndBufs;
    if (index < 0 || index >= graph.localBufNum)
        return {};
    const ::SndBuf& buffer = graph.mLocalSndBufs[index];
    return {buffer.data, buffer.frames, buffer.channels, buffer.samplerate};
}

/// Prints the first sample of each signal.
void print_firsts(Outbox& outbox, TextLine& line, const char* title, float* const* signals, uint32_t count) noexcept {
    const FaultGuard::HostCode whole;
    line.add("    %s", title);
    for (uint32_t i = 0; i < count; ++i)
        line.add(" %g", double(*signals[i]));
    outbox.print(line.take());
}

} // namespace

/// The hidden unit in front of a unit that has an InputGuard, and the wire between the two.
struct GuardUnit {
    ::Unit unit;
    ::Wire wire;
    const InputGuard* guard;
    const float* from;
    const float* high;
    float seconds; ///< the upper limit, if the guard has it in samples

    static void run(::Unit* unit, int) {
        auto& self = *reinterpret_cast<GuardUnit*>(unit);
        const float high = self.guard->in_bins ? bins_of_chain(*unit, *self.high) : *self.high;
        self.wire.mScalarValue = self.guard->apply(*self.from, high);
    }
};

/// The same for an InputMend. A block of samples follows it in memory, and one more, which a few units read, too.
struct MendUnit {
    ::Unit unit;
    ::Wire wire;
    const float* from;
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

// An instance: the plugin ABI's graph, followed by our own fields. UnitGraph itself has no state.
struct Instance {
    AbiGraph hosted;
    const Program* program;
    UnitKernels kernels;
    Block block;                       ///< what the kernels are called with
    Space* home;                       ///< the data loop's own, to which `block` belongs unless another thread was last
    float* wires;                      ///< where the audio wires are
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
    UnitCommandQueue early_commands;

    /// The name of the UGen at an index of all units, or of those that are called each block. Looks at the program
    /// alone, as a crash may have overwritten the units.
    const char* name_of(uint32_t index, bool among_called) const noexcept {
        size_t guard = 0, mend = 0;
        uint32_t called = 0;
        for (uint32_t i = 0; i < program->units.size(); ++i) {
            const UnitPlan& plan = program->units[i];
            for (; guard < program->guards.size() && program->guards[guard].unit == i; ++guard)
                called += plan.is_calc() && !program->guards[guard].at_start && !kernel_of(kernels, i);
            for (; mend < program->mends.size() && program->mends[mend].unit == i; ++mend)
                called += program->mends[mend].each_block && !kernel_of(kernels, i);
            called += plan.is_calc();
            if (among_called ? called > index : i == index)
                return plan.ugen->name.c_str();
        }
        return "?";
    }
    const char* running_name() const noexcept { return name_of(running.at, running.among_called); }
    static const char* name_of_running(const GuardedPieces& pieces) noexcept {
        return static_cast<const Running&>(pieces).instance->running_name();
    }

    /// Calls run(unit) for `count` units. false: one of them crashed.
    template <class Unit, class Run>
    bool guarded(Unit** units, uint32_t count, Run&& run) noexcept {
        return guarded(units, 0, count, std::forward<Run>(run), [] { return false; });
    }

    /// The same from unit `first` on, until stops() before one of them.
    template <class Unit, class Run, class Stops>
    bool guarded(Unit** units, uint32_t first, uint32_t count, Run&& run, Stops&& stops) noexcept {
        running.among_called = units == hosted.abi.mCalcUnits;
        const auto run_all = [&] {
            for (uint32_t i = first; i < count && !stops(); ++i) {
                running.at = i;
                run(units[i]);
            }
        };
        const bool well = FaultGuard::run(run_all, &running);
        if (!well)
            crash(running_name());
        return well;
    }

    void add_constant(uint32_t index) noexcept;
    void add_unit(uint32_t index) noexcept;
    /// `called`: the unit is, each block.
    void add_guard(const InputGuard&, ::Unit&, bool called) noexcept;
    void add_mend(const InputMend&, ::Unit&) noexcept;
    MendUnit& mend(size_t index) const noexcept {
        return *reinterpret_cast<MendUnit*>(mends + index * aligned(MendUnit::bytes(program->block_size)));
    }
    /// Everything make() has left to do. false: the deadline passed before the end.
    bool finish_layout(Deadline&) noexcept;

    void crash(const char* ugen) noexcept {
        crashed_ugen = ugen;
        crash_kind = FaultGuard::last_ending();
    }

    /// It is computed with these from now on. [any thread that has it for itself]
    void use(float* wire_memory, Space& space, ::RGen* generator) noexcept;
    /// It is the data loop's again.
    void come_home() noexcept {
        if (block.space != home)
            use(world->wire_space(), *home, world->abi().world.abi.mRGen);
    }

    /// false: the unit crashed.
    bool run_command(::Unit* unit, UnitCmdFunc run, std::span<const std::byte> arguments) noexcept {
        const char* name = entry_of(*unit).info.name.c_str();
        sc_msg_iter message = read_arguments(arguments);
        const PluginWorld::Call call(*world, arguments);
        const bool well = FaultGuard::run([&] { run(unit, &message); });
        if (!well)
            crash(name);
        return well;
    }
};

namespace {

Instance& instance(UnitGraph* graph) noexcept {
    return *reinterpret_cast<Instance*>(graph);
}
const Instance& instance(const UnitGraph* graph) noexcept {
    return *reinterpret_cast<const Instance*>(graph);
}

} // namespace

UnitGraph::Sizes UnitGraph::sizes(const Program& program, UnitKernels kernels) noexcept {
    const size_t controls = program.controls.size();
    Sizes sizes;
    sizes.whole = aligned(sizeof(Instance)) + aligned(controls * sizeof(float)) + aligned(controls * sizeof(float*)) +
                  2 * aligned(controls * sizeof(int32_t)) +
                  aligned((program.num_calc_units + program.guards.size() + program.mends.size()) * sizeof(::Unit*)) +
                  aligned(program.wires.size() * sizeof(::Wire)) + aligned(program.guards.size() * sizeof(GuardUnit)) +
                  program.mends.size() * aligned(MendUnit::bytes(program.block_size)) +
                  aligned(size_t(program.block_size) * sizeof(float)) + aligned(program.units.size() * sizeof(::Unit*));
    for (uint32_t i = 0; i < program.units.size(); ++i) {
        const UnitPlan& plan = program.units[i];
        (plan.is_calc() ? sizes.calc_units : sizes.other_units) += aligned(unit_bytes(plan, kernel_of(kernels, i)));
        sizes.whole += aligned(ports(plan) * sizeof(::Wire*));
    }
    sizes.whole += sizes.calc_units + sizes.other_units;
    return sizes;
}

UnitGraph* UnitGraph::make(void* memory, const Sizes& sizes, const Program& program, UnitKernels kernels,
                           const Block& block, PluginWorld& world, Synth& owner, const float* controls) noexcept {
    Cursor cursor(memory);
    auto* self = new (cursor.take<Instance>(1)) Instance{};
    self->program = &program;
    self->world = &world;
    self->running.instance = self;
    self->running.name = Instance::name_of_running;
    self->hosted.owner = &owner;
    self->kernels = kernels;
    self->block = block;
    self->audio_rate = *block.audio;
    self->control_rate = *block.control;
    self->block.audio = &self->audio_rate;
    self->block.control = &self->control_rate;
    self->block.synths = &self->hosted.owner;
    self->block.own_buffer = own_buffer;
    self->block.own_buffers = &self->hosted.abi;
    self->hosted.space = self->home = block.space;
    self->wires = world.wire_space();
    ::World& w = world.abi().world.abi;
    self->rates = {w.mFullRate, w.mBufRate};
    ::Graph& graph = self->hosted.abi;

    graph.mNode.mID = owner.id;
    graph.mNode.mWorld = &w;
    graph.mNumWires = uint32_t(program.wires.size());
    graph.mNumControls = uint32_t(program.controls.size());
    graph.mNumUnits = uint32_t(program.units.size());
    graph.mSampleOffset = w.mSampleOffset;
    graph.mSubsampleOffset = w.mSubsampleOffset;
    graph.mRGen = w.mRGen;
    graph.mLocalSndBufs = &world.abi().no_buffer;

    graph.mControls = cursor.take<float>(graph.mNumControls);
    graph.mMapControls = cursor.take<float*>(graph.mNumControls);
    graph.mControlRates = cursor.take<int>(graph.mNumControls);
    graph.mAudioBusOffsets = cursor.take<int32>(graph.mNumControls);
    const float* initial = controls ? controls : program.controls.data();
    for (uint32_t i = 0; i < graph.mNumControls; ++i) {
        graph.mControls[i] = initial[i];
        graph.mMapControls[i] = graph.mControls + i;
        graph.mControlRates[i] = int(Mapping::none);
        graph.mAudioBusOffsets[i] = -1;
    }
    // What each block touches comes first, in the order of use. What only constructors and queries use comes last.
    self->lay_out.dirty = cursor.at();
    self->lay_out.end = static_cast<std::byte*>(memory) + sizes.whole;
    graph.mCalcUnits = cursor.take<::Unit*>(program.num_calc_units + program.guards.size() + program.mends.size());
    graph.mWire = cursor.take<::Wire>(graph.mNumWires);
    self->guards = cursor.take<GuardUnit>(program.guards.size());
    self->mends = cursor.take<std::byte>(program.mends.size() * aligned(MendUnit::bytes(program.block_size)));
    // Some audio units read a whole block from an input that is a single number. This keeps those reads within our
    // memory.
    cursor.take<float>(size_t(program.block_size));
    graph.mUnits = cursor.take<::Unit*>(graph.mNumUnits);
    self->lay_out.calc_units = cursor;
    cursor.take<std::byte>(sizes.calc_units);
    self->lay_out.other_units = cursor;
    cursor.take<std::byte>(sizes.other_units);
    self->lay_out.ports = cursor;
    return reinterpret_cast<UnitGraph*>(self);
}

void Instance::add_constant(uint32_t index) noexcept {
    ::Wire& wire = hosted.abi.mWire[index];
    wire.mCalcRate = calc_ScalarRate;
    wire.mBuffer = &wire.mScalarValue;
    wire.mScalarValue = program->wires[index].value;
}

void Instance::add_unit(uint32_t index) noexcept {
    ::Graph& graph = hosted.abi;
    ::World& w = *graph.mNode.mWorld;
    const UnitPlan& plan = program->units[index];
    const Kernel* kernel = kernel_of(kernels, index);
    Cursor& memory = plan.is_calc() ? lay_out.calc_units : lay_out.other_units;
    std::byte* piece = memory.take<std::byte>(unit_bytes(plan, kernel));
    if (is_checked(plan, kernel)) {
        new (piece) BufferCheck(entry_of(plan));
        piece += sizeof(BufferCheck);
    }
    auto* unit = reinterpret_cast<::Unit*>(piece);
    graph.mUnits[index] = unit;
    unit->mWorld = &w;
    unit->mUnitDef = static_cast<::UnitDef*>(plan.ugen->entry);
    unit->mParent = &graph;
    unit->mParentIndex = int16_t(index);
    unit->mNumInputs = plan.num_inputs;
    unit->mNumOutputs = plan.num_outputs;
    unit->mCalcRate = abi_rate(plan.rate);
    unit->mSpecialIndex = plan.special_index;
    unit->mRate = plan.rate == Rate::audio ? &rates.full : &rates.control;
    unit->mBufLength = unit->mRate->mBufLength;
    unit->mCalcFunc = keep_silent;
    // The outputs directly follow the inputs, as in scsynth, because a few units read one input more than they have.
    unit->mInput = lay_out.ports.take<::Wire*>(ports(plan));
    unit->mOutput = unit->mInput + plan.num_inputs;
    unit->mInBuf = reinterpret_cast<float**>(reinterpret_cast<std::byte*>(unit) + signals_offset(plan, kernel));
    unit->mOutBuf = unit->mInBuf + plan.num_inputs;
    for (uint32_t j = 0; j < plan.num_inputs; ++j) {
        ::Wire* wire = graph.mWire + program->inputs[plan.first_input + j];
        unit->mInput[j] = wire;
        unit->mInBuf[j] = wire->mBuffer;
    }
    for (uint32_t j = 0; j < plan.num_outputs; ++j) {
        const uint32_t output = plan.first_output_wire + j;
        ::Wire* wire = graph.mWire + output;
        const int32_t buffer = program->wires[output].buffer;
        wire->mFromUnit = unit;
        wire->mCalcRate = unit->mCalcRate;
        wire->mBuffer = buffer < 0 ? &wire->mScalarValue : wires + size_t(buffer) * size_t(program->block_size);
        unit->mOutput[j] = wire;
        unit->mOutBuf[j] = wire->mBuffer;
    }
    if (kernel)
        NativeUnit::of(*unit).prepare(*kernel, block);
    for (; lay_out.guard < program->guards.size() && program->guards[lay_out.guard].unit == index; ++lay_out.guard)
        if (!kernel) // native units need no guards
            add_guard(program->guards[lay_out.guard], *unit, plan.is_calc());
    for (; lay_out.mend < program->mends.size() && program->mends[lay_out.mend].unit == index; ++lay_out.mend)
        if (!kernel)
            add_mend(program->mends[lay_out.mend], *unit);
    if (plan.is_calc())
        graph.mCalcUnits[graph.mNumCalcUnits++] = unit;
}

void Instance::add_guard(const InputGuard& guard, ::Unit& unit, bool called) noexcept {
    GuardUnit& hidden = guards[num_guards++];
    hidden.guard = &guard;
    hidden.from = unit.mInBuf[guard.input];
    hidden.seconds = guard.high / float(unit.mRate->mSampleRate);
    hidden.high = guard.in_samples       ? &hidden.seconds
                  : guard.in_bins        ? unit.mInBuf[0]
                  : guard.high_input < 0 ? &guard.high
                                         : unit.mInBuf[guard.high_input];
    hidden.unit.mWorld = unit.mWorld;
    hidden.unit.mParent = unit.mParent;
    hidden.unit.mBufLength = 1;
    hidden.unit.mCalcFunc = GuardUnit::run;
    hidden.wire = *unit.mInput[guard.input];
    hidden.wire.mBuffer = &hidden.wire.mScalarValue;
    if (hidden.wire.mCalcRate == calc_FullRate)
        hidden.wire.mCalcRate = calc_BufRate;
    unit.mInput[guard.input] = &hidden.wire;
    unit.mInBuf[guard.input] = hidden.wire.mBuffer;
    if (called && !guard.at_start)
        hosted.abi.mCalcUnits[hosted.abi.mNumCalcUnits++] = &hidden.unit;
}

void Instance::add_mend(const InputMend& its, ::Unit& unit) noexcept {
    MendUnit& hidden = mend(num_mends++);
    hidden.kind = its.kind;
    hidden.before = its.unit;
    hidden.frames = program->block_size + 1;
    hidden.from = unit.mInBuf[its.input];
    hidden.unit.mBufLength = 1;
    hidden.unit.mCalcFunc = MendUnit::run;
    hidden.wire = *unit.mInput[its.input];
    hidden.wire.mBuffer = hidden.samples();
    if (hidden.wire.mCalcRate == calc_FullRate)
        hidden.wire.mCalcRate = calc_BufRate;
    unit.mInput[its.input] = &hidden.wire;
    unit.mInBuf[its.input] = hidden.wire.mBuffer;
    if (its.each_block)
        hosted.abi.mCalcUnits[hosted.abi.mNumCalcUnits++] = &hidden.unit;
}

bool Instance::finish_layout(Deadline& deadline) noexcept {
    constexpr size_t piece = 16 << 10;                           // bytes
    constexpr int64_t clearing = 4000, constant = 5, unit = 100; // ns
    // Some plugins rely on units being zeroed.
    while (lay_out.dirty != lay_out.end) {
        const size_t bytes = std::min(size_t(lay_out.end - lay_out.dirty), piece);
        if (deadline.spend(clearing * int64_t(bytes) / int64_t(piece)))
            return false;
        std::memset(lay_out.dirty, 0, bytes);
        lay_out.dirty += bytes;
    }
    for (; lay_out.constants < program->num_constants; ++lay_out.constants) {
        if (deadline.spend(constant))
            return false;
        add_constant(lay_out.constants);
    }
    for (; lay_out.units < hosted.abi.mNumUnits; ++lay_out.units) {
        if (deadline.spend(unit))
            return false;
        add_unit(lay_out.units);
    }
    return true;
}

bool UnitGraph::construct(Deadline& deadline) noexcept {
    constexpr int64_t each = 2000; // ns; constructors that clear delay lines take more
    Instance& self = instance(this);
    if (!self.finish_layout(deadline))
        return true;
    GuardUnit* guard = self.guards;
    GuardUnit* const end = guard + self.num_guards;
    while (guard != end && guard->guard->unit < self.built)
        ++guard;
    uint32_t mend = 0;
    while (mend < self.num_mends && self.mend(mend).before < self.built)
        ++mend;
    const auto build = [&](::Unit* unit) {
        const uint32_t index = self.built++;
        for (; guard != end && guard->guard->unit == index; ++guard)
            GuardUnit::run(&guard->unit, 1);
        for (; mend < self.num_mends && self.mend(mend).before == index; ++mend)
            MendUnit::run(&self.mend(mend).unit, 1);
        if (kernel_of(self.kernels, index))
            NativeUnit::of(*unit).construct();
        else if (is_checked(self.program->units[index], nullptr))
            BufferCheck::of(*unit).construct(*unit);
        else
            entry_of(*unit).construct(unit);
    };
    bool well = self.guarded(self.hosted.abi.mUnits, self.built, self.hosted.abi.mNumUnits, build,
                             [&] { return deadline.spend(each); });
    if (well && self.built < self.hosted.abi.mNumUnits)
        return true;
    self.constructed = true;
    self.early_commands.take_all(self.world->pool(), [&](uint32_t unit, UnitCmdFunc run, auto arguments) {
        well = well && self.run_command(self.hosted.abi.mUnits[unit], run, arguments);
    });
    return well;
}

/// All pointers to audio wires move along. Units have no copies of them: those that do aren't computed by other threads
/// (UnitEffects).
void Instance::use(float* wire_memory, Space& space, ::RGen* generator) noexcept {
    block.space = hosted.space = &space;
    hosted.abi.mRGen = generator;
    if (wires == wire_memory)
        return;
    const auto from = reinterpret_cast<uintptr_t>(wires), to = reinterpret_cast<uintptr_t>(wire_memory);
    const size_t bytes = size_t(program->num_wire_buffers) * size_t(program->block_size) * sizeof(float);
    const auto moved = [=](uintptr_t address) { return address - from < bytes ? address - from + to : address; };
    const auto move = [&](auto*& pointer) {
        pointer =
            reinterpret_cast<std::remove_reference_t<decltype(pointer)>>(moved(reinterpret_cast<uintptr_t>(pointer)));
    };
    for (::Wire& wire : std::span(hosted.abi.mWire, hosted.abi.mNumWires))
        move(wire.mBuffer);
    for (uint32_t i = 0; i < hosted.abi.mNumUnits; ++i) {
        ::Unit& unit = *hosted.abi.mUnits[i];
        for (float*& signal : std::span(unit.mInBuf, ports(program->units[i])))
            move(signal);
        if (kernel_of(kernels, i))
            for (Operand& operand : NativeUnit::of(unit).operands())
                operand.offset = moved(operand.offset);
    }
    for (GuardUnit& guard : std::span(guards, num_guards)) {
        move(guard.from);
        move(guard.high);
    }
    for (uint32_t i = 0; i < num_mends; ++i)
        move(mend(i).from);
    wires = wire_memory;
}

UnitGraph::Outcome UnitGraph::compute(float* wires, Space& space, bool (*stops)(void*) noexcept, void* asked) noexcept {
    constexpr uint32_t between = 16; // units
    Instance& self = instance(this);
    const RenderingScope scope(*self.world);
    self.use(wires ? wires : self.world->wire_space(), space, reinterpret_cast<::RGen*>(space.random));
    ::Unit** const units = self.hosted.abi.mCalcUnits;
    const uint32_t count = self.hosted.abi.mNumCalcUnits;
    self.running.among_called = true;
    bool stopped = false;
    const auto run = [&] {
        for (uint32_t i = 0; i < count && !stopped; ++i) {
            self.running.at = i;
            units[i]->mCalcFunc(units[i], units[i]->mBufLength);
            if (i % between == between - 1)
                stopped = stops(asked);
        }
    };
    if (FaultGuard::run(run, &self.running))
        return stopped ? Outcome::stopped : Outcome::whole;
    self.crash(self.running_name());
    return Outcome::crashed;
}

void UnitGraph::render(FaultLanding& landing) {
    Instance& self = instance(this);
    self.come_home();
    ::Unit** const units = self.hosted.abi.mCalcUnits;
    const uint32_t count = self.hosted.abi.mNumCalcUnits;
    self.running.among_called = true;
    landing.enter(self.running);
    // Units are many and often small: unrolled, as in scsynth, the loop takes a quarter less time.
#pragma GCC unroll 8
    for (uint32_t i = 0; i < count; ++i) {
        self.running.at = i;
        units[i]->mCalcFunc(units[i], units[i]->mBufLength);
    }
    landing.leave();
}

void UnitGraph::render(FaultLanding& landing, Deadline& deadline, int64_t cost) {
    Instance& self = instance(this);
    self.come_home();
    ::Unit** const units = self.hosted.abi.mCalcUnits;
    const uint32_t count = self.hosted.abi.mNumCalcUnits;
    const int64_t each = cost / std::max(count, 1u);
    self.running.among_called = true;
    for (uint32_t i = 0; i < count && !deadline.spend(each); ++i) {
        landing.enter(self.running);
        self.running.at = i;
        units[i]->mCalcFunc(units[i], units[i]->mBufLength);
        landing.leave();
    }
}

void UnitGraph::crash() noexcept {
    Instance& self = instance(this);
    self.crash(self.running_name());
}

bool UnitGraph::render_traced() noexcept {
    Instance& self = instance(this);
    self.come_home();
    Outbox& outbox = self.world->outbox();
    const ::Graph& graph = self.hosted.abi;
    TextLine line;
    line.add("\nTRACE %d  %s    #units: %u", graph.mNode.mID, self.program->name.c_str(), self.program->num_calc_units);
    outbox.print(line.take());
    int index = 0;
    return self.guarded(graph.mCalcUnits, graph.mNumCalcUnits, [&](::Unit* unit) {
        const bool shown = unit->mUnitDef; // guards are internal to the host
        if (shown) {
            print_title(outbox, line, index++, *unit);
            print_firsts(outbox, line, "in ", unit->mInBuf, unit->mNumInputs);
        }
        unit->mCalcFunc(unit, unit->mBufLength);
        if (shown)
            print_firsts(outbox, line, "out", unit->mOutBuf, unit->mNumOutputs);
    });
}

Status UnitGraph::command(int64_t index, std::string_view name, std::span<const std::byte> arguments) noexcept {
    Instance& self = instance(this);
    if (index < 0 || index >= self.hosted.abi.mNumUnits)
        return {Code::index_out_of_range};
    const auto& known = entry_of(self.program->units[size_t(index)]).commands;
    const auto found = known.find(name);
    if (found == known.end() || self.crashed_ugen)
        return {Code::failed};
    if (!self.constructed)
        return self.early_commands.add(self.world->pool(), uint32_t(index), found->second, arguments)
                   ? Status{}
                   : Status{Code::out_of_memory};
    self.come_home();
    (void)self.run_command(self.hosted.abi.mUnits[index], found->second, arguments);
    return {};
}

bool UnitGraph::destroy(Deadline& deadline) noexcept {
    constexpr uint32_t few = 256;
    constexpr int64_t each = 100; // ns
    Instance& self = instance(this);
    self.early_commands.take_all(self.world->pool(), [](auto...) {});
    if (self.crashed_ugen)
        return true;
    self.come_home();
    // Most units have nothing to destroy, which their synth's program tells without touching each one's memory.
    const auto destroy = [&](::Unit* unit) {
        const uint32_t index = self.destroyed++;
        if (const Kernel* kernel = kernel_of(self.kernels, index)) {
            if (kernel->stop)
                NativeUnit::of(*unit).destroy();
        } else if (const auto destructor = entry_of(self.program->units[index]).destroy) {
            if (!is_checked(self.program->units[index], nullptr) || BufferCheck::of(*unit).constructed())
                destructor(unit);
        }
    };
    const bool well = self.guarded(self.hosted.abi.mUnits, self.destroyed, self.built, destroy,
                                   [&] { return self.built > few && deadline.spend(each); });
    return !well || self.destroyed == self.built;
}

std::span<const float* const> UnitGraph::running_inputs() noexcept {
    const GuardedPieces* const pieces = FaultGuard::running_pieces();
    if (!pieces || pieces->name != Instance::name_of_running)
        return {};
    const auto& running = static_cast<const Instance::Running&>(*pieces);
    const ::Graph& graph = running.instance->hosted.abi;
    const ::Unit& unit = *(running.among_called ? graph.mCalcUnits : graph.mUnits)[running.at];
    return {unit.mInBuf, unit.mNumInputs};
}

const char* UnitGraph::crashed_ugen() const noexcept {
    return instance(this).crashed_ugen;
}

bool UnitGraph::took_too_long() const noexcept {
    return crashed() && instance(this).crash_kind == FaultGuard::Ending::endless;
}

bool UnitGraph::constructed() const noexcept {
    return instance(this).constructed;
}

void* UnitGraph::node() noexcept {
    return &instance(this).hosted.abi.mNode;
}

void UnitGraph::set_id(int32_t id) noexcept {
    instance(this).hosted.abi.mNode.mID = id;
}

bool UnitGraph::is_mapped(int index) const noexcept {
    return instance(this).hosted.abi.mControlRates[index] != int(Mapping::none);
}

int UnitGraph::control_count() const noexcept {
    return int(instance(this).hosted.abi.mNumControls);
}

float UnitGraph::control(int index) const noexcept {
    return instance(this).hosted.abi.mControls[index];
}

void UnitGraph::set_control(int index, float value) noexcept {
    unmap(index);
    instance(this).hosted.abi.mControls[index] = value;
}

void UnitGraph::map_to_control_bus(int index, int bus) noexcept {
    ::Graph& graph = instance(this).hosted.abi;
    graph.mControlRates[index] = int(Mapping::control);
    graph.mMapControls[index] = graph.mNode.mWorld->mControlBus + bus;
}

void UnitGraph::map_to_audio_bus(int index, int bus) noexcept {
    ::Graph& graph = instance(this).hosted.abi;
    const ::World& w = *graph.mNode.mWorld;
    graph.mControlRates[index] = int(Mapping::audio);
    graph.mAudioBusOffsets[index] = bus;
    graph.mMapControls[index] = w.mAudioBus + size_t(bus) * size_t(w.mBufLength);
}

void UnitGraph::unmap(int index) noexcept {
    ::Graph& graph = instance(this).hosted.abi;
    graph.mControlRates[index] = int(Mapping::none);
    graph.mMapControls[index] = graph.mControls + index;
}

Mapping UnitGraph::mapping(int index, int& bus) const noexcept {
    const ::Graph& graph = instance(this).hosted.abi;
    const auto kind = Mapping(graph.mControlRates[index]);
    if (kind == Mapping::audio)
        bus = graph.mAudioBusOffsets[index];
    else if (kind == Mapping::control)
        bus = int(graph.mMapControls[index] - graph.mNode.mWorld->mControlBus);
    return kind;
}

} // namespace scs
