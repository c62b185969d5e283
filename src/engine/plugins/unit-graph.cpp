// SPDX-License-Identifier: GPL-3.0-or-later
// How a UnitGraph's units are constructed, run and destroyed.
#include "engine/plugins/unit-graph.hpp"

#include "engine/base/text-line.hpp"
#include "engine/messages/outbox.hpp"
#include "engine/plugins/graph-instance.hpp"
#include "engine/plugins/native-unit.hpp"
#include "engine/plugins/osc-arguments.hpp"
#include "engine/plugins/own-rate-units.hpp"
#include "engine/plugins/plugin-host.hpp"
#include "engine/plugins/plugin-world.hpp"
#include "engine/plugins/rendering-scope.hpp"
#include "engine/plugins/reply-address.hpp"
#include "engine/plugins/unit-hold.hpp"
#include "engine/rt/deadline.hpp"

#include <type_traits>

namespace scs {
namespace {

constexpr auto always = [](uint32_t) { return true; };

void compute_block(::Unit* unit) {
    unit->mCalcFunc(unit, unit->mBufLength);
}

void print_title(Outbox& outbox, TextLine& line, int index, const ::Unit& unit) noexcept {
    const FaultGuard::HostCode whole;
    line.add("  unit %d %s", index, entry_of(unit).info.name.c_str());
    outbox.print(line.take());
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

const char* Instance::name_of(uint32_t index, bool among_called) const noexcept {
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
bool Instance::run_command(::Unit* unit, const UnitCommand& command, std::span<const std::byte> arguments,
                           const ReplyTo& from) noexcept {
    const char* name = entry_of(*unit).info.name.c_str();
    sc_msg_iter message = read_arguments(arguments);
    ReplyAddress address = make_reply_address(from);
    const PluginWorld::Call call(*world, arguments);
    const bool well = FaultGuard::run([&] {
        if (command.run_addressed)
            command.run_addressed(unit, &message, &address);
        else
            command.run(unit, &message);
    });
    if (!well)
        crash(name);
    return well;
}

/// All pointers to audio wires move along. Units have no copies of them: those that do aren't computed by other threads
/// (UnitEffects).
void Instance::use(float* wire_memory, Space& space, ::RGen* generator) noexcept {
    block.space = hosted.space = &space;
    if (own)
        own->server_block.space = &space;
    if (own_wires)
        wire_memory = own_wires;
    graph().mRGen = generator;
    if (graph_of_315) {
        graph_of_315->space = &space;
        graph_of_315->abi.mRGen = generator;
    }
    if (wires == wire_memory)
        return;
    const auto from = reinterpret_cast<uintptr_t>(wires), to = reinterpret_cast<uintptr_t>(wire_memory);
    const size_t bytes = size_t(program->num_wire_buffers) * size_t(frames) * sizeof(float);
    const auto moved = [=](uintptr_t address) { return address - from < bytes ? address - from + to : address; };
    const auto move = [&](auto*& pointer) {
        pointer =
            reinterpret_cast<std::remove_reference_t<decltype(pointer)>>(moved(reinterpret_cast<uintptr_t>(pointer)));
    };
    for (::Wire& wire : std::span(graph().mWire, graph().mNumWires))
        move(wire.mBuffer);
    for (uint32_t i = 0; i < graph().mNumUnits; ++i) {
        ::Unit& unit = *graph().mUnits[i];
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

bool UnitGraph::construct(Deadline& deadline) noexcept {
    constexpr int64_t each = 2000; // ns; constructors that clear delay lines take more
    Instance& self = Instance::of(this);
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
        if (self.graph_of_315)
            self.share(*unit);
    };
    const auto in_time = [&](uint32_t) { return !deadline.spend(each); };
    bool well = self.each_guarded(self.graph().mUnits, self.built, self.graph().mNumUnits, in_time, build);
    if (well && self.built < self.graph().mNumUnits)
        return true;
    self.constructed = true;
    self.wake();
    self.early_commands.take_all(
        self.world->pool(), [&](uint32_t unit, const UnitCommand& command, auto arguments, const ReplyTo& from) {
            well = well && self.run_command(self.graph().mUnits[unit], command, arguments, from);
        });
    return well;
}

UnitGraph::Outcome UnitGraph::compute(float* wires, Space& space, bool (*stops)(void*) noexcept, void* asked) noexcept {
    constexpr uint32_t between = 16; // units
    Instance& self = Instance::of(this);
    const RenderingScope scope(*self.world);
    self.use(wires ? wires : self.world->wire_space(), space, reinterpret_cast<::RGen*>(space.random));
    bool stopped = false;
    const auto goes_on = [&](uint32_t i) {
        stopped = i > 0 && i % between == 0 && stops(asked);
        return !stopped;
    };
    self.running.among_called = true;
    if (!self.guarded([&] { self.each_awake(goes_on, compute_block); }))
        return Outcome::crashed;
    return stopped ? Outcome::stopped : Outcome::whole;
}

void UnitGraph::write_tails(Space& space) noexcept {
    Instance& self = Instance::of(this);
    self.use(self.wires, space, self.graph().mRGen);
    const auto write = [&](::Unit* unit) {
        const Kernel* const kernel = kernel_of(self.kernels, self.running.at);
        if (kernel && kernel->lone_tail)
            NativeUnit::of(*unit).write_tail();
        else if (self.own && !kernel && is_own_rate_unit(*self.program->units[self.running.at].ugen))
            write_tail_of_own_rate_unit(*unit);
    };
    (void)self.each_guarded(self.graph().mUnits, 0, self.graph().mNumUnits, always, write);
}

void UnitGraph::render(FaultLanding& landing) {
    Instance& self = Instance::of(this);
    self.come_home();
    self.running.among_called = true;
    landing.enter(self.running);
    self.each_awake(always, compute_block);
    landing.leave();
}

void UnitGraph::render(FaultLanding& landing, Deadline& deadline, int64_t cost) {
    Instance& self = Instance::of(this);
    self.come_home();
    const int64_t each = cost / std::max(self.graph().mNumCalcUnits, 1u);
    self.running.among_called = true;
    const auto in_time = [&](uint32_t) { return !deadline.spend(each); };
    self.each_awake(in_time, [&](::Unit* unit) {
        landing.enter(self.running);
        compute_block(unit);
        landing.leave();
    });
}

void UnitGraph::crash() noexcept {
    Instance& self = Instance::of(this);
    self.crash(self.running_name());
}

bool UnitGraph::render_traced() noexcept {
    Instance& self = Instance::of(this);
    self.come_home();
    Outbox& outbox = self.world->outbox();
    const ::Graph& graph = self.graph();
    TextLine line;
    outbox.print("\n");
    line.add("TRACE %d  %s    #units: %u", graph.mNode.mID, self.program->name.c_str(), self.program->num_calc_units);
    outbox.print(line.take());
    int index = 0;
    const auto run = [&](::Unit* unit) {
        const bool shown = unit->mUnitDef; // guards are internal to the host
        if (shown) {
            print_title(outbox, line, index++, *unit);
            print_firsts(outbox, line, "in ", unit->mInBuf, unit->mNumInputs);
        }
        unit->mCalcFunc(unit, unit->mBufLength);
        if (shown)
            print_firsts(outbox, line, "out", unit->mOutBuf, unit->mNumOutputs);
    };
    if (!self.own)
        return self.each_guarded(graph.mCalcUnits, 0, graph.mNumCalcUnits, always, run);
    // Of several blocks in one of the server's, the first is shown.
    self.running.among_called = true;
    return self.guarded(
        [&] { self.each_tick(always, [&](::Unit* unit) { self.own->is_first() ? run(unit) : compute_block(unit); }); });
}

Status UnitGraph::command(int64_t index, std::string_view name, std::span<const std::byte> arguments,
                          const ReplyTo& from) noexcept {
    Instance& self = Instance::of(this);
    if (index < 0 || index >= self.graph().mNumUnits)
        return {Code::index_out_of_range};
    const auto& known = entry_of(self.program->units[size_t(index)]).commands;
    const auto found = known.find(name);
    if (found == known.end() || self.crashed_ugen)
        return {Code::failed};
    if (!self.constructed)
        return self.early_commands.add(self.world->pool(), uint32_t(index), found->second, arguments, from)
                   ? Status{}
                   : Status{Code::out_of_memory};
    self.come_home();
    (void)self.run_command(self.graph().mUnits[index], found->second, arguments, from);
    return {};
}

bool UnitGraph::leave() noexcept {
    Instance& self = Instance::of(this);
    self.left = true;
    return self.jobs == 0;
}

bool hold_unit(::Unit& unit) noexcept {
    Instance& synth = Instance::of(unit);
    if (synth.left)
        return false;
    ++synth.jobs;
    return true;
}

void let_unit_go(::Unit& unit) noexcept {
    Instance& synth = Instance::of(unit);
    if (--synth.jobs == 0 && synth.left)
        synth.world->host().free_left(*synth.hosted.owner);
}

bool has_unit_left(const ::Unit& unit) noexcept {
    return Instance::of(unit).left;
}

bool UnitGraph::destroy(Deadline& deadline) noexcept {
    constexpr uint32_t few = 256;
    constexpr int64_t each = 100; // ns
    Instance& self = Instance::of(this);
    self.early_commands.take_all(self.world->pool(), [](auto...) {});
    if (self.crashed_ugen) {
        self.free_wires();
        return true;
    }
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
    const auto in_time = [&](uint32_t) { return self.built <= few || !deadline.spend(each); };
    const bool well = self.each_guarded(self.graph().mUnits, self.destroyed, self.built, in_time, destroy);
    if (well && self.destroyed != self.built)
        return false;
    self.free_wires();
    return true;
}

std::span<const float* const> UnitGraph::running_inputs() noexcept {
    const GuardedPieces* const pieces = FaultGuard::running_pieces();
    if (!pieces || pieces->name != Instance::name_of_running)
        return {};
    const auto& running = static_cast<const Instance::Running&>(*pieces);
    const ::Graph& graph = running.instance->graph();
    const ::Unit& unit = *(running.among_called ? graph.mCalcUnits : graph.mUnits)[running.at];
    return {unit.mInBuf, unit.mNumInputs};
}

const char* UnitGraph::crashed_ugen() const noexcept {
    return Instance::of(this).crashed_ugen;
}

bool UnitGraph::take_crash() noexcept {
    return crashed() && !std::exchange(Instance::of(this).crash_told, true);
}

bool UnitGraph::took_too_long() const noexcept {
    return crashed() && Instance::of(this).crash_kind == FaultGuard::Ending::endless;
}

bool UnitGraph::constructed() const noexcept {
    return Instance::of(this).constructed;
}

void* UnitGraph::node() noexcept {
    return &Instance::of(this).graph().mNode;
}

void* UnitGraph::node_of_315() noexcept {
    AbiGraphOf315* const graph = Instance::of(this).graph_of_315;
    return graph ? &graph->abi.mNode : nullptr;
}

void UnitGraph::set_id(int32_t id) noexcept {
    Instance& self = Instance::of(this);
    self.graph().mNode.mID = id;
    if (self.graph_of_315)
        self.graph_of_315->abi.mNode.mID = id;
}

} // namespace scs
