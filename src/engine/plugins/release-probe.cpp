// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/plugins/release-probe.hpp"

#include "engine/base/aligned-array.hpp"
#include "engine/plugins/abi-owners.hpp"

#include <memory>

namespace scs {

Release probe_release(const UgenEntry& saw) {
    constexpr double sample_rate = 1024;
    const auto world = std::make_unique<::World>();
    AbiGraph graph{};
    AbiGraphOf315 graph_of_315{};
    ::Rate rate{};
    rate.mSampleRate = sample_rate;
    rate.mSampleDur = 1 / sample_rate;
    rate.mBufLength = 1;
    rate.mBufRate = sample_rate;
    rate.mBufDuration = 1 / sample_rate;
    rate.mSlopeFactor = 1;
    world->mSampleRate = sample_rate;
    world->mBufLength = 1;
    world->mFullRate = world->mBufRate = rate;

    // An eighth of a cycle a sample, from phase 0.
    float samples[] = {sample_rate / 8, 0.f, -1.f};
    ::Wire wires[3]{};
    ::Wire *inputs[] = {&wires[0], &wires[1]}, *outputs[] = {&wires[2]};
    float *from[] = {&samples[0], &samples[1]}, *to[] = {&samples[2]};
    wires[2].mCalcRate = calc_BufRate;
    for (int i = 0; i < 3; ++i)
        wires[i].mBuffer = &samples[i];

    graph_of_315.abi.mNumTicks = 1;
    graph_of_315.abi.mFullRate = graph_of_315.abi.mBufRate = &rate;

    const auto memory = aligned_zeros<std::byte>(saw.info.unit_bytes);
    auto* unit = reinterpret_cast<::Unit*>(memory.get());
    unit->mWorld = world.get();
    unit->mParent = saw.api == PluginApi::v6 ? reinterpret_cast<::Graph*>(&graph_of_315.abi) : &graph.abi;
    unit->mNumInputs = 2;
    unit->mNumOutputs = 1;
    unit->mCalcRate = calc_BufRate;
    unit->mInput = inputs;
    unit->mOutput = outputs;
    unit->mRate = &rate;
    unit->mInBuf = from;
    unit->mOutBuf = to;
    unit->mBufLength = 1;
    saw.construct(unit);
    if (unit->mCalcFunc)
        unit->mCalcFunc(unit, 1);
    return samples[2] == 0.f ? Release::v3_14 : Release::v3_13;
}

} // namespace scs
