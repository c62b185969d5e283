// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/plugins/native-unit.hpp"

#include "engine/synthdef/program.hpp"

namespace scs {
namespace {

Rate rate_of(const ::Wire& wire) noexcept {
    switch (wire.mCalcRate) {
    case calc_FullRate: return Rate::audio;
    case calc_BufRate: return Rate::control;
    case calc_DemandRate: return Rate::demand;
    default: return Rate::scalar;
    }
}

size_t state_bytes(const Kernel& kernel) noexcept {
    return kernel.state64 * size_t(8) + (kernel.state32 + kernel.state32 % 2u) * size_t(4);
}

uint32_t distance(const void* from, const void* to) noexcept {
    return uint32_t(static_cast<const std::byte*>(to) - static_cast<const std::byte*>(from));
}

// The addresses of a kernel's state are relative to the unit.
void run(::Unit* unit, int) {
    NativeUnit& self = NativeUnit::of(*unit);
    self.block->bases[size_t(Base::record)] = reinterpret_cast<uintptr_t>(unit);
    self.op.run(self.op, *self.block);
}

void run_to_end(::Unit* unit, int samples) {
    run(unit, samples);
    NativeUnit::of(*unit).update_done();
}

} // namespace

size_t NativeUnit::bytes(const UnitPlan& plan, const Kernel& kernel) noexcept {
    return sizeof(NativeUnit) + (plan.num_inputs + plan.num_outputs) * sizeof(Operand) + state_bytes(kernel) +
           sizeof(int64_t);
}

void NativeUnit::prepare(const Kernel& k, Block& synths_block) noexcept {
    kernel = &k;
    block = &synths_block;
    Operand* const first = operands().data();
    Operand* next = first;
    for (uint32_t i = 0; i < unit.mNumInputs; ++i)
        *next++ = {reinterpret_cast<uintptr_t>(unit.mInBuf[i]), Base::fixed, rate_of(*unit.mInput[i])};
    for (uint32_t i = 0; i < unit.mNumOutputs; ++i)
        *next++ = {reinterpret_cast<uintptr_t>(unit.mOutBuf[i]), Base::fixed, rate_of(*unit.mOutput[i])};
    op = {k.lone,
          first,
          nullptr,
          distance(this, next),
          distance(this, next) + uint32_t(state_bytes(k)),
          uint16_t(unit.mNumInputs),
          uint16_t(unit.mNumOutputs),
          unit.mSpecialIndex,
          uint16_t(unit.mParentIndex)};
}

void NativeUnit::construct() noexcept {
    const ::Graph& graph = *unit.mParent;
    block->space->sample_offset = graph.mSampleOffset;
    block->space->subsample_offset = graph.mSubsampleOffset;
    block->bases[size_t(Base::record)] = reinterpret_cast<uintptr_t>(this);
    if (kernel->start)
        kernel->start(op, *block);
    update_done();
    if (kernel->lone)
        unit.mCalcFunc = kernel->acts_when_done ? run_to_end : run;
}

void NativeUnit::destroy() noexcept {
    block->bases[size_t(Base::record)] = reinterpret_cast<uintptr_t>(this);
    kernel->stop(op, *block);
}

void NativeUnit::write_tail() noexcept {
    block->bases[size_t(Base::record)] = reinterpret_cast<uintptr_t>(this);
    kernel->lone_tail(op, *block);
}

std::span<std::byte> NativeUnit::state() noexcept {
    return {reinterpret_cast<std::byte*>(this) + op.state, state_bytes(*kernel)};
}

void NativeUnit::update_done() noexcept {
    if (kernel->acts_when_done)
        unit.mDone = *reinterpret_cast<const int32_t*>(reinterpret_cast<std::byte*>(this) + op.done) != 0;
}

} // namespace scs
