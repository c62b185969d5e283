// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/synthdef/wire-buffers.hpp"

namespace scs {
namespace {

class BufferPool {
public:
    uint32_t take(uint32_t readers) {
        uint32_t buffer = size();
        if (free_.empty()) {
            readers_.push_back(readers);
        } else {
            buffer = free_.back();
            free_.pop_back();
            readers_[buffer] = readers;
        }
        return buffer;
    }

    void release(uint32_t buffer) {
        if (--readers_[buffer] == 0)
            free_.push_back(buffer);
    }

    uint32_t size() const { return uint32_t(readers_.size()); }

private:
    std::vector<uint32_t> readers_; // of each buffer: inputs that are still to read it
    std::vector<uint32_t> free_;
};

class Assigner {
public:
    Assigner(const SynthDef& def, std::span<const UnitPlan> units, std::span<WireSpec> wires)
        : def_(def), units_(units), wires_(wires), readers_(wires.size(), 0) {
        for (const UnitSpec& unit : def.units)
            for (const InputRef& input : unit.inputs)
                if (!input.is_constant())
                    ++readers_[wire(input)];
    }

    uint32_t run() {
        for (size_t i = 0; i < units_.size(); ++i) {
            if (units_[i].ugen->cant_alias) {
                take_outputs(i);
                release_inputs(i);
            } else {
                release_inputs(i);
                take_outputs(i);
            }
        }
        return pool_.size();
    }

private:
    size_t wire(const InputRef& input) const { return units_[size_t(input.unit)].first_output_wire + input.index; }

    void take_outputs(size_t unit) {
        const std::vector<Rate>& outputs = def_.units[unit].outputs;
        for (size_t i = 0; i < outputs.size(); ++i) {
            if (outputs[i] != Rate::audio)
                continue;
            const size_t wire = units_[unit].first_output_wire + i;
            const uint32_t buffer = pool_.take(readers_[wire]);
            wires_[wire].buffer = int32_t(buffer);
        }
    }

    void release_inputs(size_t unit) {
        if (units_[unit].rate == Rate::demand)
            return;
        const std::vector<InputRef>& inputs = def_.units[unit].inputs;
        for (auto input = inputs.rbegin(); input != inputs.rend(); ++input) {
            if (input->is_constant())
                continue;
            const int32_t buffer = wires_[wire(*input)].buffer;
            if (buffer >= 0)
                pool_.release(uint32_t(buffer));
        }
    }

    const SynthDef& def_;
    std::span<const UnitPlan> units_;
    std::span<WireSpec> wires_;
    std::vector<uint32_t> readers_; // of each wire: inputs that read it
    BufferPool pool_;
};

} // namespace

uint32_t assign_wire_buffers(const SynthDef& def, std::span<const UnitPlan> units, std::span<WireSpec> wires) {
    return Assigner(def, units, wires).run();
}

} // namespace scs
