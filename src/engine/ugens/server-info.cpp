// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/ugens/families.hpp"
#include "engine/ugens/forms.hpp"

// What a synth learns about the server when it starts.

namespace scs::SCS_SIMD {
namespace {

template <auto Value>
void start(const Op& op, Block& block) SCS_NONBLOCKING {
    *output(op, block) = Value(block);
}

template <auto Value>
const Kernel* choose(const Signature& s) {
    static constexpr Kernel kernel = [] {
        Kernel made;
        made.start = start<Value>;
        return made;
    }();
    return s.rate == Rate::scalar ? &kernel : nullptr;
}

constexpr NativeUgen list[] = {
    {"BlockSize", choose<[](const Block& b) { return float(b.frames); }>},
    {"ControlDur", choose<[](const Block& b) { return float(b.control->duration); }>},
    {"ControlRate", choose<[](const Block& b) { return float(b.control->samples); }>},
    {"NumAudioBuses", choose<[](const Block& b) { return float(b.space->audio_buses); }>},
    {"NumBuffers", choose<[](const Block& b) { return float(b.space->buffer_count); }>},
    {"NumControlBuses", choose<[](const Block& b) { return float(b.space->control_buses); }>},
    {"NumInputBuses", choose<[](const Block& b) { return float(b.space->inputs); }>},
    {"NumOutputBuses", choose<[](const Block& b) { return float(b.space->outputs); }>},
    {"RadiansPerSample", choose<[](const Block& b) { return float(b.audio->radians); }>},
    {"SampleDur", choose<[](const Block& b) { return float(b.audio->duration); }>},
    {"SampleRate", choose<[](const Block& b) { return float(b.audio->samples); }>},
    {"SubsampleOffset", choose<[](const Block& b) { return b.space->subsample_offset; }>},
};

} // namespace

SCS_FAMILY(server_info)

} // namespace scs::SCS_SIMD
