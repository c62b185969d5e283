// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compile/code.hpp"

#include "engine/compile/bus-range.hpp"
#include "engine/compile/may-rest.hpp"
#include "engine/compile/pairs.hpp"
#include "engine/compile/unit-kernels.hpp"
#include "engine/synthdef/endings.hpp"
#include "engine/synthdef/program.hpp"
#include "engine/ugens/kernel-pairs.hpp"

#include <algorithm>
#include <iterator>
#include <span>

namespace scs {
namespace {

// Limits of the fields of an Op. Ordinary programs stay far below.
constexpr size_t most_units = 0xffff;
constexpr uint32_t most_record_bytes = 1u << 26;
// What is computed ahead isn't interrupted when the deadline passes: it takes a tenth of a millisecond at most.
constexpr size_t most_ops_ahead = 1024;
// What is computed ahead isn't interrupted, so it has only a few units whose blocks may take long …
constexpr size_t most_long_ahead = 4;
// … and these blocks are no longer than this, nor are those of voices with such units that are batched: no deadline is
// asked among lanes. Frames.
constexpr int most_frames_of_long = 256;
// Few programs have more operations than that, so for most the deadline is asked before the next voice's turn only.
constexpr size_t most_at_once = 64;
constexpr int64_t cost_at_once = 10'000; // ns, of a voice or of all lanes
// How many units at demand rate may ask each other in a row: that takes room on the stack.
constexpr uint32_t most_demand_depth = 64;

/// Where a wire lies, whatever the number of lanes.
struct Place {
    Base base;
    uint32_t index; ///< fixed: which constant; audio: which buffer; control, record: which float
    Rate rate;
};

class Generator {
public:
    Generator(const Program& program, const NativeUgens& ugens, int block_size)
        : program_(program), ugens_(ugens), block_size_(block_size), code_(std::make_unique<NativeCode>()) {
        code_->name = program.name;
    }

    /// For synths with blocks or a rate of their own.
    void set_rate(const SynthRate& rate) {
        code_->own_rate = true;
        code_->ticks = ticks_of(rate, block_size_, program_.hears_audio);
        for (const UnitPlan& unit : program_.units)
            code_->once.push_back(unit.once_a_block);
        block_size_ = rate.frames;
    }

    std::unique_ptr<const NativeCode> run() {
        if (!choose_kernels())
            return nullptr;
        may_rest_ = code_->own_rate ? std::vector<bool>(kernels_.size()) : scs::may_rest(program_, kernels_, ugens_);
        place_wires();
        if (code_->audio_wires > most_audio_wires || code_->control_wires + resting_wires_.size() > most_control_wires)
            return nullptr;
        place_states();
        place_flags();
        place_resting();
        if (code_->record_bytes > most_record_bytes)
            return nullptr;
        code_->plain.lanes = code_->lone.lanes = 1;
        code_->batch.lanes = ugens_.lanes;
        count_readers();
        find_gains();
        find_changes();
        fill(code_->plain);
        for (const UnitPlan& unit : program_.units)
            add_start(uint32_t(&unit - program_.units.data()));
        fill(code_->lone);
        pair_up_lone();
        find_readers();
        fill(code_->batch);
        for (OpList* list : {&code_->lone, &code_->batch}) {
            if (code_->own_rate)
                list->parts.push_back({0, 0});
            divide(*list, code_->resting.ops());
            if (!code_->own_rate)
                continue;
            std::copy_if(list->ops.begin(), list->ops.end(), std::back_inserter(list->later.ops),
                         [this](const Op& op) { return !code_->once[op.unit]; });
            divide(list->later, 0);
        }
        judge();
        return std::move(code_);
    }

private:
    bool choose_kernels() {
        if (program_.units.size() > most_units)
            return false;
        demanded_.resize(program_.units.size());
        for (const UnitPlan& unit : program_.units) {
            const Kernel* kernel = nullptr;
            if (!is_control(unit)) {
                kernel = kernel_of(program_, unit, ugens_);
                // What is told comes with a frame of the server's blocks.
                if (!kernel || !may_be_asked(unit, *kernel) || (code_->own_rate && kernel->sends))
                    return false;
            } else if (unit.rate != Rate::scalar && unit.rate != Rate::control) {
                return false;
            }
            kernels_.push_back(kernel);
        }
        // A shared state must have exactly one owner.
        for (const Kernel* kernel : kernels_)
            if (kernel && kernel->state_of && std::count(kernels_.begin(), kernels_.end(), kernel->state_of) != 1)
                return false;
        return true;
    }

    /// What is known of a unit's inputs at demand rate, and theirs.
    struct Demanded {
        uint32_t depth = 0; ///< how many units ask each other in a row
        bool draws = false, sends = false;
    };

    /// Notes what a unit asks for, and whether it may.
    bool may_be_asked(const UnitPlan& unit, const Kernel& kernel) {
        const bool at_demand = unit.rate == Rate::demand;
        if (at_demand != bool(kernel.pull))
            return false;
        Demanded own;
        for (uint32_t i = 0; i < unit.num_inputs; ++i) {
            const WireSpec& wire = program_.wires[program_.inputs[unit.first_input + i]];
            if (wire.rate != Rate::demand || wire.from_unit < 0)
                continue;
            if (!kernel.pulls)
                return false;
            const Demanded& other = demanded_[size_t(wire.from_unit)];
            own.depth = std::max(own.depth, other.depth);
            own.draws |= other.draws;
            own.sends |= other.sends;
        }
        if (at_demand) {
            ++own.depth;
            own.draws |= kernel.effect == Effect::draws;
            own.sends |= kernel.sends;
            code_->reads_buffers = code_->reads_buffers || kernel.reads_buffers;
        }
        demanded_[size_t(&unit - program_.units.data())] = own;
        return own.depth <= most_demand_depth;
    }

    static bool is_control(const UnitPlan& unit) { return unit.ugen->name == "Control"; }

    void place_wires() {
        for (const UnitPlan& unit : program_.units)
            demand_places_.push_back(unit.rate == Rate::demand ? demand_count_++ : 0);
        code_->controls = uint32_t(program_.controls.size());
        uint32_t record = code_->controls;
        for (uint32_t w = 0; w < program_.wires.size(); ++w) {
            const WireSpec& wire = program_.wires[w];
            if (wire.from_unit < 0) {
                places_.push_back({Base::fixed, w, Rate::scalar});
                continue;
            }
            const UnitPlan& unit = program_.units[size_t(wire.from_unit)];
            if (unit.rate == Rate::demand) {
                places_.push_back({Base::fixed, uint32_t(wire.from_unit), Rate::demand});
            } else if (wire.buffer >= 0) {
                places_.push_back({Base::audio, uint32_t(wire.buffer), Rate::audio});
                code_->audio_wires = std::max(code_->audio_wires, uint32_t(wire.buffer) + 1);
            } else if (is_control(unit) && unit.rate == Rate::control) {
                const uint32_t control = uint32_t(unit.special_index) + (w - unit.first_output_wire);
                places_.push_back({Base::record, control, Rate::control});
            } else if (unit.rate == Rate::scalar) {
                places_.push_back({Base::record, record++, Rate::scalar});
            } else if (may_rest_[size_t(wire.from_unit)]) { // see place_resting()
                places_.push_back({Base::record, uint32_t(resting_wires_.size()), Rate::control});
                resting_wires_.push_back(w);
            } else {
                places_.push_back({Base::control, code_->control_wires++, Rate::control});
            }
        }
        scalars_end_ = record;
        record += record % 2;
        add_piece(0, 0, record);
        code_->record_bytes = record * 4;
    }

    void add_piece(uint32_t offset, uint32_t items64, uint32_t items32) {
        constexpr uint32_t most = 0x8000;
        if (items64 == 0 && !code_->pieces.empty()) {
            NativeCode::Piece& last = code_->pieces.back();
            if (last.offset + last.items64 * 8u + last.items32 * 4u == offset && last.items32 + items32 <= most) {
                last.items32 = uint16_t(last.items32 + items32);
                return;
            }
        }
        for (; items32 > most; items32 -= most) { // none of 65535 controls
            code_->pieces.push_back({offset, uint16_t(items64), uint16_t(most)});
            offset += items64 * 8 + most * 4;
            items64 = 0;
        }
        code_->pieces.push_back({offset, uint16_t(items64), uint16_t(items32)});
    }

    void place_states() {
        for (const Kernel* kernel : kernels_) {
            states_.push_back(code_->record_bytes);
            if (!kernel || (kernel->state_of && kernel->state_of != kernel) ||
                (kernel->state64 == 0 && kernel->state32 == 0))
                continue;
            const uint32_t items32 = kernel->state32 + kernel->state32 % 2u;
            add_piece(code_->record_bytes, kernel->state64, items32);
            if (kernel->keeps_own_buffers) {
                code_->own_buffers = true;
                code_->own_buffers_at = code_->record_bytes;
            }
            code_->record_bytes += kernel->state64 * 8u + items32 * 4u;
        }
        for (size_t u = 0; u < kernels_.size(); ++u)
            if (kernels_[u] && kernels_[u]->state_of) {
                const auto owner = std::find(kernels_.begin(), kernels_.end(), kernels_[u]->state_of);
                states_[u] = states_[size_t(owner - kernels_.begin())];
            }
    }

    /// Gives each unit that can be done a flag, shared with the units that wait for it.
    void place_flags() {
        flags_.resize(kernels_.size());
        for (uint32_t u = 0; u < kernels_.size(); ++u) {
            const Kernel* kernel = kernels_[u];
            if (!kernel || (!kernel->acts_when_done && !kernel->waits_for_done))
                continue;
            if (kernel->waits_for_done) {
                const int32_t source = program_.wires[program_.inputs[program_.units[u].first_input]].from_unit;
                if (source >= 0 && kernels_[size_t(source)] && kernels_[size_t(source)]->acts_when_done) {
                    flags_[u] = flags_[size_t(source)];
                    continue;
                }
            }
            flags_[u] = code_->record_bytes;
            add_piece(code_->record_bytes, 0, 2);
            code_->record_bytes += 8;
        }
    }

    void place_resting() {
        if (resting_wires_.empty())
            return;
        for (const uint32_t w : resting_wires_)
            places_[w].index += code_->record_bytes / 4;
        const auto wires = uint32_t(resting_wires_.size());
        code_->record_bytes += (wires + wires % 2) * 4;
        code_->resting.awake_at = code_->record_bytes;
    }

    /// Once it is known which operations the units have become.
    void find_readers() {
        Resting& resting = code_->resting;
        if (resting.ops() == 0)
            return;
        const auto word = [](size_t op) { return op / Resting::word_bits; };
        const auto bit = [](size_t op) { return uint64_t(1) << op % Resting::word_bits; };
        resting.words = uint32_t(word(resting.ops() - 1) + 1);
        code_->record_bytes += uint32_t(Resting::head_bytes) + resting.words * 8;
        resting.with_state.assign(resting.words, 0);
        resting.readers.assign(resting.ops() * resting.words, 0);
        resting.control_readers.assign(code_->controls * resting.words, 0);
        std::vector<size_t> writers(code_->record_bytes / sizeof(float), SIZE_MAX); // of each float in the record
        for (size_t i = 0; i < resting.ops(); ++i) {
            const Op& op = code_->lone.ops[i];
            if (resting.items[i].bytes())
                resting.with_state[word(i)] |= bit(i);
            const auto reads = [&](size_t at) {
                if (at < code_->controls)
                    resting.control_readers[at * resting.words + word(i)] |= bit(i);
                else if (const size_t writer = writers[at]; writer != SIZE_MAX)
                    resting.readers[writer * resting.words + word(i)] |= bit(i);
            };
            for (const Operand& input : std::span(op.operands, op.inputs))
                if (input.base == Base::record)
                    reads(input.offset / sizeof(float));
            if (kernels_[op.unit]->reads_controls)
                reads(size_t(op.special_index));
            writers[op.operands[op.inputs].offset / sizeof(float)] = i;
        }
    }

    Operand operand(uint32_t wire, const OpList& list) const {
        const Place& place = places_[wire];
        const size_t lanes = size_t(list.lanes);
        switch (place.base) {
        case Base::fixed:
            if (place.rate == Rate::demand)
                return {reinterpret_cast<uintptr_t>(list.demand.data() + demand_places_[place.index]), place.base,
                        place.rate};
            return {reinterpret_cast<uintptr_t>(list.constants.get() + place.index * lanes), place.base, place.rate};
        case Base::audio:
            return {size_t(place.index) * size_t(block_size_) * lanes * sizeof(float), place.base, place.rate};
        default: return {place.index * lanes * sizeof(float), place.base, place.rate};
        }
    }

    void fill(OpList& list) {
        const size_t lanes = size_t(list.lanes);
        list.constants = aligned_zeros<float>(program_.num_constants * lanes);
        for (uint32_t w = 0; w < program_.num_constants; ++w)
            std::fill_n(list.constants.get() + w * lanes, lanes, program_.wires[w].value);
        size_t operands = 0;
        for (const UnitPlan& unit : program_.units)
            operands += unit.num_inputs + unit.num_outputs;
        // Operations point into these.
        list.operands.reserve(operands);
        list.demand.resize(demand_count_);
        list.gains.reserve(program_.units.size());

        list.known_bytes = size_t(scalars_end_) * lanes * sizeof(float);
        if (&list != &code_->plain)
            for (uint32_t u = 0; u < program_.units.size(); ++u)
                if (may_rest_[u])
                    add(u, list);
        for (uint32_t u = 0; u < program_.units.size(); ++u)
            if (&list == &code_->plain || !may_rest_[u])
                add(u, list);
    }

    void pair_up_lone() {
        const auto first = uint32_t(code_->resting.ops());
        const PairFacts facts{kernels_, pair_of, most_audio_wires, uint32_t(block_size_) * uint32_t(sizeof(float))};
        const auto now = pair_up(std::span(code_->lone.ops).subspan(first), code_->lone.operands, facts);
        const auto move = [&](uint32_t& op) { op = op < first ? op : first + now[op - first]; };
        for (NativeCode::BusUse& use : code_->lone_reaches)
            move(use.op);
        for (NativeCode::Kept& kept : code_->lone_keeps)
            move(kept.op);
    }

    /// Adds a unit's operands to `list`, and its operation, unless it is a part of another.
    void add(uint32_t u, OpList& list) {
        const bool scaled = &list != &code_->plain, batch = list.lanes != 1;
        const UnitPlan& unit = program_.units[u];
        const Kernel* kernel = kernels_[u];
        Op op = place(u, list);
        if (kernel && kernel->pull)
            list.demand[demand_places_[u]] = {batch ? kernel->pull_of_lane : kernel->pull, op};
        if (!kernel || !unit.is_calc() || (scaled && in_change_[u]))
            return;
        if (scaled && change_of_[u] >= 0) {
            const auto difference = size_t(change_of_[u]);
            list.operands[size_t(op.operands - list.operands.data())] =
                operand(program_.inputs[program_.units[difference].first_input], list);
            op.state = sources_[difference].state;
            const Kernel& change = *kernels_[difference]->exceeds;
            op.run = batch ? change.batch : change.lone;
            return push(op, u, *kernels_[difference], list);
        }
        const Gained* gained = scaled ? gained_by(u, batch) : nullptr;
        if (gained && gained->unit == u)
            return; // comes as one operation with its multiplication
        op.run = batch ? kernel->batch : kernel->lone;
        if (gained) {
            const Kernel& source = *kernels_[gained->unit];
            const UnitPlan& source_unit = program_.units[gained->unit];
            list.gains.push_back({op.operands[gained->factor], op.state, gained->ramped});
            op = sources_[gained->unit];
            // The source writes to the multiplication's output.
            const auto output = size_t(op.operands - list.operands.data()) + source_unit.num_inputs;
            list.operands[output] = operand(unit.first_output_wire, list);
            op.gain = &list.gains.back();
            op.run = batch ? source.batch_scaled : source.lone_scaled;
        }
        const NativeCode::BusUse use{uint32_t(list.ops.size()), kernel->effect, kernel->first_channel};
        if (batch && kernel->effect == Effect::draws)
            note_draws(*kernel, unit.rate);
        if (batch && demanded_[u].draws)
            note_demanded_draws();
        if (scaled && kernel->effect != Effect::none && kernel->effect != Effect::draws)
            (batch ? code_->batch_reaches : code_->lone_reaches).push_back(use);
        if (scaled && writes(kernel->effect))
            (batch ? code_->batch_keeps : code_->lone_keeps).push_back({use.op, 0, op});
        if (batch && kernel->hold) {
            code_->holds.push_back({use.op, code_->sets, kernel->hold, kernel->hand_over});
            code_->sets += op.inputs - kernel->first_channel;
        }
        push(op, u, *kernel, list);
        if (scaled && kernel->batch_tail) {
            op.run = batch ? kernel->batch_tail : kernel->lone_tail;
            (batch ? code_->batch_tails : code_->lone_tails).push_back(op);
        }
    }

    /// `kernel`: whose state the operation of unit `u` has.
    void push(const Op& op, uint32_t u, const Kernel& kernel, OpList& list) {
        list.ops.push_back(op);
        if (!may_rest_[u] || &list != &code_->lone)
            return;
        code_->resting.items.push_back({kernel.state64, kernel.state32});
        ++code_->resting.count;
    }

    /// Adds a unit's operands to `list` and returns an operation that lacks only its function.
    Op place(uint32_t u, OpList& list) {
        const UnitPlan& unit = program_.units[u];
        const Operand* first = list.operands.data() + list.operands.size();
        for (uint32_t i = 0; i < unit.num_inputs; ++i)
            list.operands.push_back(operand(program_.inputs[unit.first_input + i], list));
        for (uint32_t i = 0; i < unit.num_outputs; ++i)
            list.operands.push_back(operand(unit.first_output_wire + i, list));
        const auto at = [&](uint32_t offset) { return uint32_t(offset * size_t(list.lanes)); };
        const Op op{nullptr,
                    first,
                    nullptr,
                    at(states_[u]),
                    at(flags_[u]),
                    uint16_t(unit.num_inputs),
                    uint16_t(unit.num_outputs),
                    unit.special_index,
                    uint16_t(u)};
        sources_.resize(program_.units.size());
        sources_[u] = op;
        return op;
    }

    void note_draws(const Kernel& kernel, Rate rate) {
        ++draws_;
        numbers_ += kernel.numbers_a_frame * uint32_t(rate == Rate::audio ? block_size_ : 1);
        draws_vary_ = draws_vary_ || !kernel.numbers_a_frame || code_->own_rate;
    }

    void note_demanded_draws() {
        ++draws_;
        draws_vary_ = true;
    }

    void divide(Sequence& list, size_t begin) const {
        for (size_t end = begin + 1; end <= list.ops.size(); ++end) {
            const Kernel* kernel = kernels_[list.ops[end - 1].unit];
            const bool takes_long = kernel && kernel->takes_long;
            if (!takes_long && end - begin < most_at_once && end < list.ops.size())
                continue;
            list.parts.push_back({end, takes_long ? Deadline::unknown : cost_at_once});
            begin = end;
        }
        if (list.parts.empty())
            list.parts.push_back({begin, 0});
    }

    /// Uses the operands of the plain list.
    void add_start(uint32_t u) {
        const Kernel* kernel = kernels_[u];
        const auto add = [&](std::vector<Op>& to, KernelFunction run) {
            to.push_back(sources_[u]);
            to.back().run = run;
        };
        if (!kernel && program_.units[u].rate == Rate::scalar)
            add(code_->starts, start_scalar_control);
        if (kernel && kernel->start) {
            add(code_->starts, kernel->start);
            code_->start_cost = std::max(code_->start_cost, kernel->start_cost);
        }
        if (kernel && kernel->stop) {
            add(code_->stops, kernel->stop);
            const Kernel& owner = kernel->state_of ? *kernel->state_of : *kernel;
            code_->stop_pieces.push_back({states_[u], owner.state64, uint16_t(owner.state32 + owner.state32 % 2u)});
        }
        for (uint32_t i = 0; kernel && kernel->forgets_controls && i < program_.units[u].num_outputs; ++i)
            code_->forgotten.push_back(uint32_t(program_.units[u].special_index) + i);
    }

    /// A multiplication that the unit of one of its operands can do itself.
    struct Gained {
        uint32_t unit, product; ///< the source and the multiplication
        uint32_t factor;        ///< which of the multiplication's inputs isn't the source
        bool ramped;
    };

    void count_readers() {
        readers_.resize(program_.wires.size());
        for (uint32_t wire : program_.inputs)
            ++readers_[wire];
    }

    /// Finds |HPZ1| > x at control rate, with nothing else reading the values in between, to make it one operation in
    /// place of three.
    void find_changes() {
        change_of_.assign(kernels_.size(), -1);
        in_change_.assign(kernels_.size(), false);
        for (uint32_t u = 0; u < program_.units.size(); ++u) {
            if (!computes_value(int32_t(u)) || kernels_[u]->role != Role::greater)
                continue;
            const int32_t size = first_source(u);
            if (!computes_value(size) || kernels_[size_t(size)]->role != Role::absolute)
                continue;
            const int32_t difference = first_source(uint32_t(size));
            if (!computes_value(difference) || !kernels_[size_t(difference)]->exceeds)
                continue;
            change_of_[u] = difference;
            in_change_[size_t(size)] = in_change_[size_t(difference)] = true;
        }
    }
    /// Whether this is a control-rate unit with a kernel that computes its output from other values.
    bool computes_value(int32_t u) const {
        if (u < 0 || !kernels_[size_t(u)])
            return false;
        const UnitPlan& unit = program_.units[size_t(u)];
        bool values = unit.rate == Rate::control;
        for (uint32_t i = 0; i < unit.num_inputs; ++i) {
            const Rate rate = program_.wires[program_.inputs[unit.first_input + i]].rate;
            values = values && (rate == Rate::control || rate == Rate::scalar);
        }
        return values;
    }
    /// The unit with one output that only this unit reads, as its first input; -1 if there is none.
    int32_t first_source(uint32_t u) const {
        const uint32_t wire = program_.inputs[program_.units[u].first_input];
        const int32_t source = readers_[wire] == 1 ? program_.wires[wire].from_unit : -1;
        return source >= 0 && program_.units[size_t(source)].num_outputs == 1 ? source : -1;
    }

    /// Finds units whose only reader is the next audio unit, which multiplies them by something held or ramped.
    void find_gains() {
        const UnitPlan* source = nullptr;
        for (const UnitPlan& unit : program_.units) {
            if (!unit.is_calc() || unit.rate != Rate::audio)
                continue;
            const Kernel* kernel = kernels_[size_t(&unit - program_.units.data())];
            if (source && kernel->role == Role::product && source->num_outputs == 1 &&
                readers_[source->first_output_wire] == 1)
                for (uint32_t i : {0u, 1u}) {
                    const WireSpec& factor = program_.wires[program_.inputs[unit.first_input + 1 - i]];
                    const uint32_t operand = program_.inputs[unit.first_input + i];
                    if (operand == source->first_output_wire && factor.rate != Rate::audio)
                        gained_.push_back({uint32_t(source - program_.units.data()),
                                           uint32_t(&unit - program_.units.data()), 1 - i,
                                           factor.rate == Rate::control});
                }
            source = &unit;
        }
    }

    /// The pair that this unit is the source or the multiplication of, if the source's kernel can do both; else null.
    const Gained* gained_by(uint32_t u, bool batch) const {
        for (const Gained& gained : gained_) {
            const Kernel* source = kernels_[gained.unit];
            const KernelFunction scaled = batch ? source->batch_scaled : source->lone_scaled;
            if ((gained.unit == u || gained.product == u) && scaled && source->effect == Effect::none)
                return &gained;
        }
        return nullptr;
    }

    /// A Control that is read once.
    static void start_scalar_control(const Op& op, Block& block) SCS_NONBLOCKING {
        const float* record = reinterpret_cast<const float*>(block.bases[size_t(Base::record)]);
        for (uint32_t i = 0; i < op.outputs; ++i)
            *reinterpret_cast<float*>(block.bases[size_t(Base::record)] + op.operands[i].offset) =
                record[uint32_t(op.special_index) + i];
    }

    void judge() {
        // One unit draws in the order of the voices. Two would take turns differently than in lone voices, as would one
        // in each of several ticks.
        bool well = draws_ <= (code_->own_rate ? 0 : 1);
        const auto& reaches = code_->batch_reaches;
        for (const NativeCode::BusUse& use : reaches) {
            code_->writes_control_buses |= use.effect == Effect::writes_control;
            code_->reaches_may_meet |= writes(use.effect) && reaches.size() > 1;
        }
        if (code_->reaches_may_meet)
            well = well && std::all_of(reaches.begin(), reaches.end(),
                                       [this](const auto& use) { return known_before(use, code_->batch); });
        bool ends_itself_alone = true, looks_back = false, reads = false;
        size_t senders = 0, take_long = 0;
        for (uint32_t u = 0; u < program_.units.size(); ++u) {
            const Kernel* kernel = kernels_[u];
            if (kernel) // also if it does so in its start alone
                reads = reads || kernel->effect == Effect::reads_audio || kernel->effect == Effect::reads_control;
            if (!kernel || !program_.units[u].is_calc())
                continue;
            well = well && kernel->batch && !(kernel->takes_long && block_size_ > most_frames_of_long);
            looks_back = looks_back || kernel->looks_back;
            senders += kernel->sends || demanded_[u].sends;
            take_long += kernel->takes_long;
            code_->reads_buffers = code_->reads_buffers || kernel->reads_buffers;
            const UnitEnding ending = ending_of(program_, program_.units[u]);
            code_->ends = code_->ends || ending.ends;
            code_->pauses = code_->pauses || (ending.ends && !ending.frees);
            ends_itself_alone = ends_itself_alone && !ending.others;
        }
        // What is told comes in the order of the voices, as what is drawn.
        well = well && ends_itself_alone && senders <= 1;
        code_->sends = senders > 0;
        // To join and leave a batch, what a voice keeps is moved item by item.
        constexpr uint32_t most_bytes = 65536;
        code_->batchable = well && code_->record_bytes <= most_bytes;
        code_->draws = draws_ > 0;
        code_->numbers = draws_vary_ ? 0 : numbers_;
        const auto adders = uint64_t(std::count_if(
            reaches.begin(), reaches.end(), [](const auto& use) { return use.effect != Effect::reads_control; }));
        code_->acts_on_itself = ends_itself_alone;
        code_->only_adds = ends_itself_alone && adders == code_->holds.size();
        code_->commutes = well && code_->only_adds && !code_->sends && code_->sets <= row_sets;
        code_->takes_long = take_long > 0;
        takes_long_ = take_long > (block_size_ > most_frames_of_long ? 0 : most_long_ahead);
        code_->pipelines = ends_itself_alone && !looks_back && !takes_long_ && ops_in_block() <= most_ops_ahead;
        code_->starts_anywhere = code_->pipelines && !reads && !code_->draws && !code_->sends;
        find_bus_controls();
        code_->gate_controls = gate_controls(program_, kernels_);
        judge_ahead();
    }

    /// How many operations a lone voice has in a block of the server.
    size_t ops_in_block() const {
        return code_->lone.ops.size() + code_->lone.later.ops.size() * size_t(code_->ticks.count - 1);
    }

    void find_bus_controls() {
        for (const NativeCode::BusUse& use : code_->lone_reaches) {
            const Operand& bus = code_->lone.ops[use.op].operands[0];
            if (const size_t control = bus.offset / sizeof(float);
                bus.base == Base::record && control < code_->controls)
                code_->bus_controls |= TurnFacts::control_bit(control);
        }
        for (const uint32_t control : code_->forgotten)
            code_->buses_stay = code_->buses_stay && !code_->is_bus(int(control));
    }

    void judge_ahead() {
        bool well = !code_->own_rate && code_->acts_on_itself && !code_->sends && !takes_long_ &&
                    (!code_->draws || code_->numbers) && ops_in_block() <= most_ops_ahead;
        bool written = false;
        for (const NativeCode::BusUse& use : code_->lone_reaches) {
            written = written || writes(use.effect);
            if (writes(use.effect))
                continue;
            code_->reads = true;
            // What comes later must not be what the voice would read itself.
            well = well && !written && known_before(use, code_->lone);
        }
        if (!well)
            return;
        size_t operands = 0;
        for (const NativeCode::Kept& kept : code_->lone_keeps)
            operands += 2u * kept.late.inputs;
        code_->late_operands.reserve(operands); // operations point into it
        code_->lone_ahead = true;
        code_->lone_sets = place_late(code_->lone_keeps, 1);
        code_->ahead = code_->batchable;
        code_->batch_sets = place_late(code_->batch_keeps, size_t(code_->batch.lanes));
    }

    /// Gives operations operands for when they come later. Returns how many sets they need.
    uint32_t place_late(std::vector<NativeCode::Kept>& keeps, size_t lanes) {
        const size_t row = size_t(block_size_) * lanes * sizeof(float);
        uint32_t sets = 0;
        for (NativeCode::Kept& kept : keeps) {
            const Operand* first = code_->late_operands.data() + code_->late_operands.size();
            kept.set = sets;
            for (size_t i = 0; i < kept.late.inputs; ++i) {
                Operand operand = kept.late.operands[i];
                if (operand.base == Base::audio || operand.base == Base::control) {
                    operand.base = Base::audio;
                    operand.offset = sets++ * row;
                }
                code_->late_operands.push_back(operand);
            }
            kept.late.operands = first;
        }
        return sets;
    }

    const Program& program_;
    const NativeUgens& ugens_;
    int block_size_;
    std::unique_ptr<NativeCode> code_;
    std::vector<const Kernel*> kernels_; ///< of each unit; null for Control
    std::vector<Demanded> demanded_;     ///< of each unit
    std::vector<Place> places_;          ///< of each wire
    std::vector<size_t> demand_places_;  ///< of each unit at demand rate: into OpList::demand
    size_t demand_count_ = 0;            ///< how many there are
    bool takes_long_ = false;            ///< too many units for it to be computed ahead
    std::vector<uint32_t> states_;       ///< of each unit, bytes into a voice's record
    std::vector<uint32_t> flags_;        ///< of each unit: place of its done flag, as states_; 0: unread
    uint32_t draws_ = 0;                 ///< how many units draw random numbers in each block …
    uint32_t numbers_ = 0;               ///< … and how many numbers together …
    bool draws_vary_ = false;            ///< … unless that varies
    std::vector<Gained> gained_;
    std::vector<int32_t> change_of_;      ///< of each unit: first unit of the change that ends here; -1: none
    std::vector<bool> in_change_;         ///< of each unit: whether it is part of a change, but not its end
    std::vector<uint32_t> readers_;       ///< of each wire
    std::vector<bool> may_rest_;          ///< of each unit
    std::vector<uint32_t> resting_wires_; ///< their outputs
    uint32_t scalars_end_ = 0;            ///< floats in the record: the controls and the scalar wires
    std::vector<Op> sources_;             ///< of each unit, as placed last
};

} // namespace

std::unique_ptr<const NativeCode> generate(const Program& program, const NativeUgens& ugens, int block_size) {
    if (block_size % block_multiple != 0)
        return nullptr;
    Generator generator(program, ugens, block_size);
    if (asks(program.own_rate)) {
        const auto rate = constant_rate(program.own_rate, block_size);
        if (!rate || !fits_native_units(rate->frames, block_size))
            return nullptr;
        generator.set_rate(*rate);
    }
    return generator.run();
}

} // namespace scs
