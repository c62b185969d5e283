// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/ensemble/ensemble.hpp"

#include "engine/ugens/native-ugens.hpp"
#include "engine/voices/rest.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <new>
#include <utility>

namespace scs {
namespace {

/// The lanes of a batch; 0: there are no batches.
int batch_lanes(const Settings& settings) {
    return settings.native_ugens && settings.batching ? native_ugens(settings.simd).lanes : 0;
}

/// Voices are computed by helpers only where there are batches.
bool has_helpers(const Settings& settings) {
    return settings.threads > 1 && (settings.batching || !settings.native_ugens);
}

} // namespace

Ensemble::Ensemble(const Settings& settings, Buses& buses, Buffers& buffers, RandomState* random, Pool& pool,
                   Deadline& deadline, Trace& trace, std::shared_ptr<HelperPool> helpers)
    : held_(batch_lanes(settings), settings.block_size),
      list_(has_helpers(settings) ? Ahead::most_items(settings) : 0),
      records_(pool, held_, list_, batch_lanes(settings)),
      runner_(settings, native_ugens(settings.simd).lanes, buses, buffers, random, pool, held_, &deadline),
      batching_(records_, batch_lanes(settings)),
      ahead_(has_helpers(settings)
                 ? std::make_unique<Ahead>(settings, trace, std::move(helpers), native_ugens(settings.simd).lanes,
                                           buses, buffers, random, pool, held_, deadline, costs_)
                 : nullptr),
      turns_(batching_, runner_, held_, list_, trace, batch_lanes(settings) != 0) {
    set_sample_rate(settings.sample_rate);
}

void Ensemble::set_host(void* host, VoiceRunner::DoneAction done_action) noexcept {
    runner_.set_host(host, done_action);
    if (ahead_)
        ahead_->set_host(host, done_action);
}

void Ensemble::set_listener(SynthListener& listener) noexcept {
    runner_.set_listener(listener);
    if (ahead_)
        ahead_->set_listener(listener);
}

void Ensemble::set_sample_rate(double rate) noexcept {
    runner_.set_sample_rate(rate);
    if (ahead_)
        ahead_->set_sample_rate(rate);
}

// ---- a voice

Voice* Ensemble::make(void* memory, const NativeCode& code, const float* controls, int sample_offset,
                      float subsample_offset) noexcept {
    std::byte* record = records_.make(code);
    if (!record)
        return nullptr;
    auto* voice = new (memory) Voice(code, record, runner_.rates().audio.samples);
    voice->sample_offset = uint16_t(sample_offset);
    voice->subsample_offset = subsample_offset;
    std::memset(record, 0, code.record_bytes);
    std::copy_n(controls, code.controls, reinterpret_cast<float*>(record));
    std::copy_n(controls, code.controls, voice->set_values());
    std::memset(voice->mapped(), 0, code.controls * sizeof(int32_t));
    wake(*voice);
    return voice;
}

void Ensemble::destroy(Synth& synth) noexcept {
    Voice& voice = *synth.voice;
    assert(synth.ahead.planned < 0);
    const bool stops = voice.constructed && !voice.code->stops.empty();
    std::byte* const own = voice.record;
    if (Batch* const batch = voice.batch) {
        if (stops)
            voice.record = records_.copy_for_stops(voice);
        records_.vacate(voice);
        if (!batch->live)
            records_.free(*batch);
    }
    if (stops)
        runner_.stop(synth);
    voice.record = own;
    records_.free(voice);
    if (turns_.starting() == &synth)
        turns_.abandon_start();
}

// ---- controls

namespace {

void set_in_record(Voice& voice, int index, float value) noexcept {
    std::byte* record = voice.batch ? voice.batch->record() : voice.record;
    const size_t lanes = voice.batch ? size_t(voice.code->batch.lanes) : 1;
    reinterpret_cast<float*>(record)[size_t(index) * lanes + (voice.batch ? voice.lane : 0u)] = value;
    if (!voice.code->resting.words)
        return;
    wake_readers(*voice.code, record, lanes, uint32_t(index));
    look_soon(*voice.code, record, lanes);
}

} // namespace

void Ensemble::set_control(Synth& synth, int index, float value) noexcept {
    map_control(synth, index, 0);
    if (synth.facts->is_bus(index))
        list_.note_change();
    synth.voice->set_values()[index] = value;
    set_in_record(*synth.voice, index, value);
}

void Ensemble::map_control(Synth& synth, int index, int32_t to) noexcept {
    Voice& voice = *synth.voice;
    int32_t& mapped = voice.mapped()[index];
    if (mapped == to)
        return;
    list_.note_change();
    voice.maps += (to != 0) - (mapped != 0);
    voice.audio_maps = uint16_t(voice.audio_maps + (to < 0) - (mapped < 0));
    if (to < 0 && synth.parent)
        ++synth.parent->entered; // checked like a new node: others may not pass it any more
    mapped = to;
    if (to == 0)
        set_in_record(voice, index, voice.set_values()[index]);
    if (!voice.batch)
        return;
    const uint32_t bit = 1u << voice.lane;
    voice.batch->mapped = voice.maps ? voice.batch->mapped | bit : voice.batch->mapped & ~bit;
    // A mapped bus that voices of this program may write has to be read in the voice's own turn.
    if (voice.audio_maps || (voice.maps && voice.code->writes_control_buses))
        voice.batch->stale = true;
}

} // namespace scs
