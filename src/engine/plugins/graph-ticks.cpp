// SPDX-License-Identifier: GPL-3.0-or-later
// A UnitGraph whose blocks, or whose sample rate, aren't the server's.
#include "engine/base/text-line.hpp"
#include "engine/messages/outbox.hpp"
#include "engine/plugins/graph-instance.hpp"
#include "engine/plugins/own-rate-units.hpp"
#include "engine/rt/pool.hpp"

namespace scs {
namespace {

UnitRate unit_rate(double samples) noexcept {
    constexpr double two_pi = 6.28318530717958647692;
    return {samples, 1. / samples, two_pi / samples};
}

void warn(PluginWorld& world, const Program& program, const GrantedRate& granted) noexcept {
    TextLine line;
    line.add("WARNING: synth of %s:", program.name.c_str());
    if (granted.wrong_factor)
        line.add(" a resampling factor of %g isn't a power of two from 1 to %d: 1 is used",
                 double(granted.asked_factor), highest_factor);
    if (granted.wrong_frames)
        line.add("%s blocks of %g frames aren't a power of two up to the server's block: %d are used",
                 granted.wrong_factor ? ";" : "", double(granted.asked_frames), granted.rate.frames);
    world.outbox().complain(line.take());
}

void complain_of_wires(PluginWorld& world, const Program& program) noexcept {
    TextLine line;
    line.add("WARNING: synth of %s: no real-time memory for longer blocks than the server's", program.name.c_str());
    world.outbox().complain(line.take());
}

} // namespace

void OwnTicks::begin(int block_frames, const Rates& block_rates, const Block& block, UnitKernels kernels) noexcept {
    server_frames = block_frames;
    server_rates = block_rates;
    server_audio = *block.audio;
    server_control = *block.control;
    server_block = block;
    server_block.audio = &server_audio;
    server_block.control = &server_control;
    kernels_of_ticks = kernels;
}

void Instance::settle_rate() noexcept {
    ::Graph& graph = hosted.abi;
    own->settled = true;
    GrantedRate granted = granted_rate(program->own_rate, {graph.mControls, graph.mNumControls}, own->server_frames);
    if (granted.is_wrong())
        warn(*world, *program, granted);
    if (granted.rate.frames > own->server_frames) {
        const size_t floats = size_t(program->num_wire_buffers) * size_t(granted.rate.frames);
        own_wires = static_cast<float*>(world->pool().allocate(std::max(floats, size_t(1)) * sizeof(float)));
        if (own_wires) {
            wires = own_wires;
        } else {
            complain_of_wires(*world, *program);
            granted.rate.frames = own->server_frames; // which needs no wires of its own
        }
    }
    static_cast<Ticks&>(*own) = ticks_of(granted.rate, own->server_frames, program->hears_audio);
    const SynthRate rate = own->rate;
    frames = rate.frames;
    if (!fits_native_units(frames, own->server_frames))
        kernels = own->kernels_of_ticks;

    const double samples = own->server_rates.full.mSampleRate * rate.factor;
    if (rate.frames != own->server_frames || rate.factor != 1) {
        rates = {rate_of(samples, frames), rate_of(samples / frames, 1)};
        audio_rate = unit_rate(samples);
        control_rate = unit_rate(samples / frames);
    }
    block.frames = frames;
    for (size_t api = 0; api < own->worlds.size(); ++api) {
        AbiWorld& its = own->worlds[api] = world->abi().lasting.world(PluginApi(api));
        its.of_synth = true;
        ::World& w = its.abi;
        w.mFullRate = rates.full;
        w.mBufRate = rates.control;
        w.mSampleRate = samples;
        w.mBufLength = frames;
        // What else reads or writes buses, as plugins may, stays in their memory. It doesn't convert them.
        if (frames > own->server_frames)
            w.mNumAudioBusChannels = uint32_t(int(w.mNumAudioBusChannels) * own->server_frames / frames);
    }
    if (graph_of_315) {
        graph_of_315->abi.mNumTicks = uint32_t(own->count);
        graph_of_315->abi.mTickCounter = 0;
    }
}

void Instance::free_wires() noexcept {
    if (own_wires)
        world->pool().free(own_wires);
    own_wires = nullptr;
}

void Instance::begin_ticks() noexcept {
    // These numbers change from block to block.
    for (size_t api = 0; api < own->worlds.size(); ++api) {
        const ::World& from = world->abi().lasting.worlds[api].abi;
        ::World& to = own->worlds[api].abi;
        to.mBufCounter = from.mBufCounter;
        to.mNumUnits = from.mNumUnits;
        to.mNumGraphs = from.mNumGraphs;
        to.mNumGroups = from.mNumGroups;
    }
    own->got_ahead = std::exchange(own->started, true);
    own->begin(block.space->block_number, own->got_ahead);
    if (graph_of_315)
        graph_of_315->abi.mTickCounter = 0;
}

} // namespace scs
