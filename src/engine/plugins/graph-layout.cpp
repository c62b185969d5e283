// SPDX-License-Identifier: GPL-3.0-or-later
// How a UnitGraph lies in memory, and how it is laid out there.
#include "engine/plugins/graph-instance.hpp"
#include "engine/plugins/native-unit.hpp"
#include "engine/plugins/own-rate-units.hpp"
#include "engine/plugins/plugin-world.hpp"
#include "engine/rt/deadline.hpp"

#include <cstring>
#include <new>

namespace scs {
namespace {

/// The offset of a unit's pointers to its signals, which follow its state.
size_t signals_offset(const UnitPlan& unit, const Kernel* kernel) noexcept {
    const size_t bytes = kernel ? NativeUnit::bytes(unit, *kernel) : unit.ugen->unit_bytes;
    return (bytes + alignof(float*) - 1) & ~(alignof(float*) - 1);
}

size_t unit_bytes(const UnitPlan& unit, const Kernel* kernel) noexcept {
    const size_t check = is_checked(unit, kernel) ? sizeof(BufferCheck) : 0;
    return check + signals_offset(unit, kernel) + ports(unit) * sizeof(float*);
}

/// Whether a unit of the program sees GraphOf315.
bool sees_graph_of_315(const Program& program, UnitKernels kernels) noexcept {
    for (uint32_t i = 0; i < program.units.size(); ++i)
        if (!kernel_of(kernels, i) && entry_of(program.units[i]).api == PluginApi::v6)
            return true;
    return false;
}

/// How many units are called in each block, at most.
size_t most_called(const Program& program) noexcept {
    return program.num_calc_units + program.guards.size() + program.mends.size();
}

int16_t abi_rate(Rate rate) noexcept {
    switch (rate) {
    case Rate::control: return calc_BufRate;
    case Rate::audio: return calc_FullRate;
    case Rate::demand: return calc_DemandRate;
    default: return calc_ScalarRate;
    }
}

/// Makes a unit silent whose graph has just been laid out or has failed.
void keep_silent(::Unit* unit, int samples) {
    for (uint32_t i = 0; i < unit->mNumOutputs; ++i)
        std::memset(unit->mOutBuf[i], 0, size_t(samples) * sizeof(float));
}

/// Block::own_buffer of a graph.
SampleBuffer own_buffer(const Synth& synth, int32_t number) noexcept SCS_NONBLOCKING {
    const ::Graph& graph = Instance::of(synth.graph).graph();
    const int64_t index = int64_t(number) - graph.mNode.mWorld->mNumSndBufs;
    if (index < 0 || index >= graph.localBufNum)
        return {};
    const ::SndBuf& buffer = graph.mLocalSndBufs[index];
    return {buffer.data, buffer.frames, buffer.channels, buffer.samplerate};
}

} // namespace

UnitGraph::Sizes UnitGraph::sizes(const Program& program, UnitKernels kernels, UnitKernels kernels_of_ticks,
                                  bool rest) noexcept {
    const bool own = asks(program.own_rate);
    const size_t controls = program.controls.size();
    const size_t called = most_called(program);
    Sizes sizes;
    sizes.whole = aligned(sizeof(Instance)) +
                  (sees_graph_of_315(program, own ? kernels_of_ticks : kernels) ? aligned(sizeof(AbiGraphOf315)) : 0) +
                  (own ? aligned(sizeof(OwnTicks)) + aligned(called * sizeof(uint32_t)) : 0) +
                  aligned(controls * sizeof(float)) + aligned(controls * sizeof(float*)) +
                  2 * aligned(controls * sizeof(int32_t)) + aligned(called * sizeof(::Unit*)) +
                  (rest ? aligned(called * sizeof(uint32_t)) + aligned(program.units.size() * sizeof(bool)) : 0) +
                  aligned(program.wires.size() * sizeof(::Wire)) + aligned(program.guards.size() * sizeof(GuardUnit)) +
                  program.mends.size() * aligned(MendUnit::bytes(program.most_frames)) +
                  aligned(size_t(program.most_frames) * sizeof(float)) +
                  aligned(program.units.size() * sizeof(::Unit*));
    for (uint32_t i = 0; i < program.units.size(); ++i) {
        const UnitPlan& plan = program.units[i];
        const size_t bytes = unit_bytes(plan, kernel_of(kernels, i));
        (plan.is_calc() ? sizes.calc_units : sizes.other_units) +=
            aligned(own ? std::max(bytes, unit_bytes(plan, kernel_of(kernels_of_ticks, i))) : bytes);
        sizes.whole += aligned(ports(plan) * sizeof(::Wire*));
    }
    sizes.whole += sizes.calc_units + sizes.other_units;
    return sizes;
}

UnitGraph* UnitGraph::make(void* memory, const Sizes& sizes, const Program& program, UnitKernels kernels,
                           UnitKernels kernels_of_ticks, const std::vector<bool>& may_rest, const Block& block,
                           PluginWorld& world, Synth& owner, const float* controls) noexcept {
    Cursor cursor(memory);
    auto* self = new (cursor.take<Instance>(1)) Instance{};
    const bool own = asks(program.own_rate);
    if (sees_graph_of_315(program, own ? kernels_of_ticks : kernels))
        self->graph_of_315 = new (cursor.take<AbiGraphOf315>(1)) AbiGraphOf315{};
    if (own)
        self->own = new (cursor.take<OwnTicks>(1)) OwnTicks{};
    self->program = &program;
    self->frames = program.block_size;
    self->world = &world;
    self->running.instance = self;
    self->running.name = Instance::name_of_running;
    self->hosted.owner = &owner;
    self->hosted.main = &self->hosted.abi;
    self->kernels = kernels;
    self->rest.may = may_rest.empty() ? nullptr : &may_rest;
    self->block = block;
    self->audio_rate = *block.audio;
    self->control_rate = *block.control;
    self->block.audio = &self->audio_rate;
    self->block.control = &self->control_rate;
    self->block.synths = &self->hosted.owner;
    self->block.own_buffer = own_buffer;
    self->hosted.space = self->home = block.space;
    self->wires = world.wire_space();
    ::World& w = world.abi().world.abi;
    self->rates = {w.mFullRate, w.mBufRate};
    if (own)
        self->own->begin(program.block_size, self->rates, self->block, kernels_of_ticks);
    ::Graph& graph = self->graph();

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
    graph.mCalcUnits = cursor.take<::Unit*>(most_called(program));
    if (self->rest.may) {
        self->rest.awake = cursor.take<uint32_t>(most_called(program));
        self->rest.units = cursor.take<bool>(graph.mNumUnits);
    }
    if (own)
        self->own->each = cursor.take<uint32_t>(most_called(program));
    graph.mWire = cursor.take<::Wire>(graph.mNumWires);
    self->guards = cursor.take<GuardUnit>(program.guards.size());
    self->mends = cursor.take<std::byte>(program.mends.size() * aligned(MendUnit::bytes(program.most_frames)));
    // Some audio units read a whole block from an input that is a single number. This keeps those reads within our
    // memory.
    cursor.take<float>(size_t(program.most_frames));
    graph.mUnits = cursor.take<::Unit*>(graph.mNumUnits);
    self->lay_out.calc_units = cursor;
    cursor.take<std::byte>(sizes.calc_units);
    self->lay_out.other_units = cursor;
    cursor.take<std::byte>(sizes.other_units);
    self->lay_out.ports = cursor;
    if (self->graph_of_315)
        self->begin_graph_of_315();
    return reinterpret_cast<UnitGraph*>(self);
}

void HiddenUnit::divert(::Unit& reader, uint32_t input, float* to, UnitCalcFunc run) noexcept {
    from = reader.mInBuf[input];
    unit.mWorld = reader.mWorld;
    unit.mParent = reader.mParent;
    unit.mBufLength = 1;
    unit.mCalcFunc = run;
    wire = *reader.mInput[input];
    wire.mBuffer = to;
    if (wire.mCalcRate == calc_FullRate)
        wire.mCalcRate = calc_BufRate;
    reader.mInput[input] = &wire;
    reader.mInBuf[input] = to;
}

void Instance::begin_graph_of_315() noexcept {
    const ::Graph& from = graph();
    GraphOf315& to = graph_of_315->abi;
    to.mNode = from.mNode;
    to.mNode.mWorld = &world->abi().lasting.world(PluginApi::v6).abi;
    to.mRefCount = 1;
    to.mNumTicks = 1;
    to.mFullRate = &rates.full;
    to.mBufRate = &rates.control;
    to.mNumWires = from.mNumWires;
    to.mNumControls = from.mNumControls;
    to.mWire = from.mWire;
    to.mControls = from.mControls;
    to.mMapControls = from.mMapControls;
    to.mAudioBusOffsets = from.mAudioBusOffsets;
    to.mControlRates = from.mControlRates;
    to.mNumUnits = from.mNumUnits;
    to.mUnits = from.mUnits;
    to.mCalcUnits = from.mCalcUnits;
    to.mSampleOffset = from.mSampleOffset;
    to.mSubsampleOffset = from.mSubsampleOffset;
    to.mRGen = from.mRGen;
    to.mLocalSndBufs = from.mLocalSndBufs;
    graph_of_315->owner = hosted.owner;
    graph_of_315->space = hosted.space;
    graph_of_315->main = hosted.main;
}

void Instance::share(const ::Unit& from) noexcept {
    ::Graph& a = graph();
    GraphOf315& b = graph_of_315->abi;
    if (from.mParent == &a) {
        b.mRGen = a.mRGen;
        b.mLocalSndBufs = a.mLocalSndBufs;
        b.localBufNum = a.localBufNum;
        b.localMaxBufNum = a.localMaxBufNum;
    } else {
        a.mRGen = b.mRGen;
        a.mLocalSndBufs = b.mLocalSndBufs;
        a.localBufNum = b.localBufNum;
        a.localMaxBufNum = b.localMaxBufNum;
    }
}

void Instance::add_constant(uint32_t index) noexcept {
    ::Wire& wire = graph().mWire[index];
    wire.mCalcRate = calc_ScalarRate;
    wire.mBuffer = &wire.mScalarValue;
    wire.mScalarValue = program->wires[index].value;
}

void Instance::add_unit(uint32_t index) noexcept {
    ::Graph& graph = hosted.abi;
    const UnitPlan& plan = program->units[index];
    const Kernel* kernel = kernel_of(kernels, index);
    const PluginApi api = kernel ? PluginApi::v3 : entry_of(plan).api;
    Cursor& memory = plan.is_calc() ? lay_out.calc_units : lay_out.other_units;
    std::byte* piece = memory.take<std::byte>(unit_bytes(plan, kernel));
    if (is_checked(plan, kernel)) {
        new (piece) BufferCheck(entry_of(plan));
        piece += sizeof(BufferCheck);
    }
    auto* unit = reinterpret_cast<::Unit*>(piece);
    graph.mUnits[index] = unit;
    const bool once = own && plan.once_a_block;
    unit->mWorld =
        own && !once && api != PluginApi::v6 ? &own->worlds[size_t(api)].abi : &world->abi().lasting.world(api).abi;
    unit->mUnitDef = static_cast<::UnitDef*>(plan.ugen->entry);
    unit->mParent = api == PluginApi::v6 ? reinterpret_cast<::Graph*>(&graph_of_315->abi) : &graph;
    unit->mParentIndex = int16_t(index);
    unit->mNumInputs = plan.num_inputs;
    unit->mNumOutputs = plan.num_outputs;
    unit->mCalcRate = abi_rate(plan.rate);
    unit->mSpecialIndex = plan.special_index;
    Rates& its_rates = once ? own->server_rates : rates;
    unit->mRate = plan.rate == Rate::audio ? &its_rates.full : &its_rates.control;
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
        wire->mBuffer = buffer < 0 ? &wire->mScalarValue : wires + size_t(buffer) * size_t(frames);
        unit->mOutput[j] = wire;
        unit->mOutBuf[j] = wire->mBuffer;
    }
    if (kernel)
        NativeUnit::of(*unit).prepare(*kernel, once ? own->server_block : block);
    for (; lay_out.guard < program->guards.size() && program->guards[lay_out.guard].unit == index; ++lay_out.guard)
        if (!kernel) // native units need no guards
            add_guard(program->guards[lay_out.guard], *unit, plan.is_calc());
    for (; lay_out.mend < program->mends.size() && program->mends[lay_out.mend].unit == index; ++lay_out.mend)
        if (!kernel)
            add_mend(program->mends[lay_out.mend], *unit);
    if (plan.is_calc())
        add_called(*unit, once);
}

void Instance::add_called(::Unit& unit, bool once) noexcept {
    if (own && !once)
        own->each[own->each_count++] = graph().mNumCalcUnits;
    graph().mCalcUnits[graph().mNumCalcUnits++] = &unit;
}

void Instance::add_guard(const InputGuard& guard, ::Unit& unit, bool called) noexcept {
    GuardUnit& hidden = guards[num_guards++];
    hidden.guard = &guard;
    hidden.limit = guard.in_block ? float(frames - 1) : guard.high / float(unit.mRate->mSampleRate);
    hidden.high = guard.in_samples || guard.in_block ? &hidden.limit
                  : guard.in_bins                    ? unit.mInBuf[0]
                  : guard.high_input < 0             ? &guard.high
                                                     : unit.mInBuf[guard.high_input];
    hidden.divert(unit, guard.input, &hidden.wire.mScalarValue, GuardUnit::run);
    if (called && !guard.at_start)
        add_called(hidden.unit, false);
}

void Instance::add_mend(const InputMend& its, ::Unit& unit) noexcept {
    MendUnit& hidden = mend(num_mends++);
    hidden.kind = its.kind;
    hidden.before = its.unit;
    hidden.frames = frames + 1;
    hidden.divert(unit, its.input, hidden.samples(), MendUnit::run);
    if (its.each_block)
        add_called(hidden.unit, false);
}

bool Instance::finish_layout(Deadline& deadline) noexcept {
    constexpr size_t piece = 16 << 10;                           // bytes
    constexpr int64_t clearing = 4000, constant = 5, unit = 100; // ns
    if (own && !own->settled)
        settle_rate();
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
    for (; lay_out.units < graph().mNumUnits; ++lay_out.units) {
        if (deadline.spend(unit))
            return false;
        add_unit(lay_out.units);
    }
    if (graph_of_315)
        graph_of_315->abi.mNumCalcUnits = graph().mNumCalcUnits;
    return true;
}

} // namespace scs
