// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/voices/ensemble.hpp"

#include "engine/world/buses.hpp"
#include "engine/world/buffers.hpp"
#include "engine/guard/fault-guard.hpp"
#include "engine/rt/pool.hpp"
#include "engine/nodes/node.hpp"
#include "engine/ugens/native-ugens.hpp"
#include "engine/voices/fetch-ahead.hpp"

#include <algorithm>
#include <cstring>

namespace scs {
namespace {

constexpr int search_interval = 8; // blocks, a power of two

} // namespace

Ensemble::Ensemble(const Settings& settings, Buses& buses, Buffers& buffers, Pool& pool, RandomState* random)
    : buses_(buses),
      pool_(pool),
      lanes_(native_ugens(settings.simd).lanes),
      batching_(settings.batching) {
    if (settings.native_ugens) {
        const size_t lanes = size_t(lanes_), block = size_t(settings.block_size);
        audio_ = aligned_zeros<float>(most_audio_wires * block * lanes);
        control_ = aligned_zeros<float>(most_control_wires * lanes);
        rows_ = aligned_zeros<float>(row_sets * block * lanes);
        if (batching_) {
            held_rows_ = aligned_zeros<float>(held_slots * row_sets * block * lanes);
            held_buses_.resize(held_slots * row_sets * lanes);
            shelving_.resize(lanes * most_moved_bytes);
        }
    }
    space_.audio_bus = buses.audio(0);
    space_.audio_touched = buses.audio_touched();
    space_.control_bus = buses.control();
    space_.control_touched = buses.control_touched();
    space_.audio_buses = settings.audio_buses;
    space_.control_buses = settings.control_buses;
    space_.inputs = settings.inputs;
    space_.outputs = settings.outputs;
    space_.block_size = settings.block_size;
    space_.buffers = &buffers;
    space_.buffer = [](void* table, int32_t number) {
        const Buffer buffer = static_cast<Buffers*>(table)->get(number);
        return SampleBuffer{buffer.data, buffer.frames, buffer.channels, buffer.sample_rate};
    };
    space_.buffer_count = buffers.count();
    space_.random = random;
    space_.rows = rows_.get();
    space_.allocator = &pool;
    // Kernels call these among plugins' units, too, whose faults may end a synth at any instruction.
    space_.allocate = [](void* pool_memory, size_t bytes) {
        const FaultGuard::HostCode whole;
        return static_cast<Pool*>(pool_memory)->allocate(bytes);
    };
    space_.free = [](void* pool_memory, void* memory) {
        const FaultGuard::HostCode whole;
        static_cast<Pool*>(pool_memory)->free(memory);
    };
    set_sample_rate(settings.sample_rate);
}

void Ensemble::set_host(void* host, DoneAction done_action) noexcept {
    space_.host = host;
    space_.done_action = done_action;
}

void Ensemble::set_sample_rate(double rate) noexcept {
    if (rates_[current_rates_].audio.samples == rate)
        return;
    current_rates_ = (current_rates_ + 1) % rates_.size();
    constexpr double two_pi = 6.28318530717958647692;
    const auto rates = [](double r) { return UnitRate{r, 1. / r, two_pi / r}; };
    rates_[current_rates_] = {rates(rate), rates(rate / space_.block_size)};
}

// ---- a voice

Voice* Ensemble::make(void* memory, const NativeCode& code, const float* controls, int sample_offset,
                      float subsample_offset) noexcept {
    std::byte* record = make_record(code);
    if (!record)
        return nullptr;
    std::memset(memory, 0, Voice::bytes(code));
    auto* voice = new (memory) Voice{};
    voice->code = &code;
    voice->record = record;
    voice->rates = &rates_[current_rates_];
    voice->sample_offset = uint16_t(sample_offset);
    voice->subsample_offset = subsample_offset;
    std::memset(record, 0, code.record_bytes);
    std::copy_n(controls, code.controls, reinterpret_cast<float*>(record));
    std::copy_n(controls, code.controls, voice->set_values());
    return voice;
}

void Ensemble::prepare(Block& block, std::byte* record, const VoiceRates& rates) noexcept {
    block.bases[size_t(Base::fixed)] = 0;
    block.bases[size_t(Base::audio)] = reinterpret_cast<uintptr_t>(audio_.get());
    block.bases[size_t(Base::control)] = reinterpret_cast<uintptr_t>(control_.get());
    block.bases[size_t(Base::record)] = reinterpret_cast<uintptr_t>(record);
    block.frames = space_.block_size;
    block.audio = &rates.audio;
    block.control = &rates.control;
    block.space = &space_;
}

Block Ensemble::lone_block() noexcept {
    Block block{};
    prepare(block, nullptr, rates_[current_rates_]);
    block.live = 1;
    return block;
}

/// What a mapped control reads is what the bus holds when the voice's turn begins.
void Ensemble::follow_maps(Voice& voice, std::byte* record, uint32_t lanes, uint32_t lane) noexcept {
    auto* values = reinterpret_cast<float*>(record);
    const int32_t* mapped = voice.mapped();
    for (uint32_t i = 0; i < voice.code->controls; ++i)
        if (mapped[i] > 0)
            values[i * lanes + lane] = buses_.control()[mapped[i] - 1];
        else if (mapped[i] < 0)
            values[i * lanes + lane] = *buses_.audio(-mapped[i] - 1);
}

void Ensemble::follow_maps(Batch& batch) noexcept {
    for (uint32_t left = batch.mapped; left; left &= left - 1) {
        const uint32_t lane = uint32_t(std::countr_zero(left));
        follow_maps(*batch.synths[lane]->voice, batch.record(), uint32_t(lanes_), lane);
    }
}

/// What kernels have set to 0 in the record.
void Ensemble::forget(Voice& voice) noexcept {
    for (const uint32_t control : voice.code->forgotten)
        voice.set_values()[control] = 0.f;
}

/// Operations of a voice that is in no batch.
void Ensemble::run(Synth& synth, const std::vector<Op>& ops) noexcept {
    Synth* const synths[] = {&synth};
    Block block;
    prepare(block, synth.voice->record, *synth.voice->rates);
    block.live = 1;
    block.synths = synths;
    block.mapped = synth.voice->mapped();
    for (const Op& op : ops)
        op.run(op, block);
}

void Ensemble::start(Synth& synth) noexcept {
    Voice& voice = *synth.voice;
    space_.sample_offset = voice.sample_offset;
    space_.subsample_offset = voice.subsample_offset;
    if (voice.maps)
        follow_maps(voice, voice.record, 1, 0);
    voice.constructed = true;
    run(synth, voice.code->starts);
}

void Ensemble::render(Synth& synth) noexcept {
    Voice& voice = *synth.voice;
    if (voice.maps)
        follow_maps(voice, voice.record, 1, 0);
    if (voice.rest)
        --voice.rest;
    run(synth, voice.code->lone.ops);
    forget(voice);
}

void Ensemble::destroy(Synth& synth) noexcept {
    Voice& voice = *synth.voice;
    if (Batch* batch = voice.batch; batch && voice.code->stops.empty()) {
        forget_lane(voice);
        if (!batch->live)
            release(*batch);
    } else {
        leave(synth);
    }
    if (voice.constructed)
        run(synth, voice.code->stops);
    free_record(voice);
}

// ---- controls

namespace {

float& value_of(Voice& voice, int index) noexcept {
    std::byte* record = voice.batch ? voice.batch->record() : voice.record;
    const size_t lanes = voice.batch ? size_t(voice.code->batch.lanes) : 1;
    return reinterpret_cast<float*>(record)[size_t(index) * lanes + (voice.batch ? voice.lane : 0u)];
}

} // namespace

void Ensemble::set_control(Synth& synth, int index, float value) noexcept {
    map_control(synth, index, 0);
    synth.voice->set_values()[index] = value;
    value_of(*synth.voice, index) = value;
}

void Ensemble::map_control(Synth& synth, int index, int32_t to) noexcept {
    Voice& voice = *synth.voice;
    int32_t& mapped = voice.mapped()[index];
    if (mapped == to)
        return;
    voice.maps += (to != 0) - (mapped != 0);
    voice.audio_maps = uint16_t(voice.audio_maps + (to < 0) - (mapped < 0));
    if (to < 0 && synth.parent)
        ++synth.parent->entered; // it doesn't commute any more
    mapped = to;
    if (to == 0)
        value_of(voice, index) = voice.set_values()[index];
    if (!voice.batch)
        return;
    const uint32_t bit = 1u << voice.lane;
    voice.batch->mapped = voice.maps ? voice.batch->mapped | bit : voice.batch->mapped & ~bit;
    // A bus that its own kind may write is read when its own turn comes.
    if (voice.audio_maps || (voice.maps && voice.code->writes_control_buses))
        voice.batch->stale = true;
}

// ---- batches: their lanes

/// Moves the voices to the first lanes, or up to the last ones, without holes.
void Ensemble::shift(Batch& batch, bool up) noexcept {
    Synth* synths[most_lanes];
    const int count = members(batch, synths);
    for (int i = 0; i < count; ++i) {
        // One after the other into lanes that are free by then.
        const int which = up ? count - 1 - i : i;
        move(*synths[which], batch, up ? lanes_ - 1 - i : i);
    }
}

/// A free lane, of voices whose order matters the one behind the last. The batch isn't full.
int Ensemble::lane_behind(Batch& batch) noexcept {
    if (!batch.ordered())
        return std::countr_one(batch.live);
    if (batch.last() == lanes_ - 1)
        shift(batch, false);
    return batch.last() + 1;
}

/// Whether another voice can come in. Those in order may have to change their lanes for it, which holds until all have had
/// their turns.
bool Ensemble::has_room(const Batch& batch) const noexcept {
    return batch.count() < lanes_ && !(batch.ordered() && batch.pending);
}

bool Ensemble::append(Batch& batch, Synth& synth) noexcept {
    if (!has_room(batch))
        return false;
    take_in(batch, synth, lane_behind(batch));
    if (batch.scattered)
        scatter(batch);
    return true;
}

bool Ensemble::prepend(Batch& batch, Synth& synth) noexcept {
    if (!batch.ordered())
        return append(batch, synth);
    if (!has_room(batch))
        return false;
    if (batch.first() == 0)
        shift(batch, true);
    take_in(batch, synth, batch.first() - 1);
    if (batch.scattered)
        scatter(batch);
    return true;
}

void Ensemble::merge(Batch& front, Batch& back) noexcept {
    front.stale |= back.stale;
    if (front.scattered || back.scattered)
        scatter(front);
    Synth* synths[most_lanes];
    const int count = members(back, synths);
    for (int i = 0; i < count; ++i)
        move(*synths[i], front, lane_behind(front));
    release(back);
}

// ---- batches: who is in them

/// Whether a neighbour, if there is one, is of the same SynthDef: most aren't, and then nothing else needs to be asked.
bool Ensemble::same_kind(const Synth& synth, const Node* node) noexcept {
    if (!node || node->is_group)
        return false;
    const Voice* voice = static_cast<const Synth*>(node)->voice;
    return voice && voice->code == synth.voice->code;
}

bool Ensemble::ready(const Node* node) const noexcept {
    if (!node || node->is_group || node->run != Run::on)
        return false;
    const Voice* voice = static_cast<const Synth*>(node)->voice;
    return voice && voice->code->batchable && !voice->rest && !voice->audio_maps &&
           !(voice->maps && voice->code->writes_control_buses);
}

bool Ensemble::alike(const Synth& a, const Synth& b) const noexcept {
    return a.voice->code == b.voice->code && a.voice->rates == b.voice->rates;
}

void Ensemble::part(Node& node) noexcept {
    const auto batch_of = [](const Node* n) -> Batch* {
        const Voice* voice = n && !n->is_group ? static_cast<const Synth*>(n)->voice : nullptr;
        return voice ? voice->batch : nullptr;
    };
    if (node.parent)
        ++node.parent->entered;
    Batch* batch = batch_of(node.previous);
    if (!batch || batch->scattered || batch != batch_of(node.next))
        return;
    // The voices behind the node are lone until they find each other again.
    for (Node* n = node.next; batch_of(n) == batch; n = n->next)
        put_out(*batch, *static_cast<Synth*>(n));
}

/// Who doesn't run any more leaves.
void Ensemble::settle(Batch& batch) noexcept {
    batch.stale = false;
    Synth* synths[most_lanes];
    const int count = members(batch, synths);
    for (int i = 0; i < count; ++i) {
        Synth& synth = *synths[i];
        if (synth.voice->batch != &batch || ready(&synth))
            continue;
        const bool last = batch.count() == 1;
        leave(synth);
        if (last)
            return;
        if (!batch.scattered)
            part(synth);
    }
}

Batch* Ensemble::gather(Synth& synth) noexcept {
    if (!batching_)
        return nullptr;
    if (Batch* batch = synth.voice->batch; batch && batch->stale)
        settle(*batch);
    if (!synth.voice->batch && same_kind(synth, synth.next) && ready(&synth) && ready(synth.next)) {
        Synth& next = static_cast<Synth&>(*synth.next);
        if (Batch* behind = next.voice->batch;
            behind && !behind->stale && !behind->scattered && alike(synth, next))
            (void)prepend(*behind, synth);
    }
    Batch* batch = synth.voice->batch;
    if (!batch)
        return nullptr;
    if (batch->scattered) {
        review(*batch, synth);
        batch = synth.voice->batch;
        if (!batch)
            return nullptr;
    }
    if (!batch->scattered && !independent(*batch)) {
        // What a voice adds in its own turn may go anywhere.
        batch->scattered = batch->code->commutes;
        batch->reviewed = synth.parent->entered;
        if (!batch->scattered) {
            dissolve_and_rest(*batch);
            return nullptr;
        }
    }
    if (batch->scattered && !take_slot(*batch)) {
        dissolve_and_rest(*batch);
        return nullptr;
    }
    return batch;
}

/// Makes one batch of two if it can, or else one of them fuller, now and then. `first`: the first voice of the one
/// behind.
void Ensemble::fill_up(Batch& front, Batch& back, Synth& first, bool now) noexcept {
    if (!has_room(front))
        return;
    if (front.count() + back.count() <= lanes_) {
        if (!back.pending)
            merge(front, back);
    } else if (now) {
        move(first, front, lane_behind(front));
        if (front.scattered)
            scatter(front);
    }
}

void Ensemble::join_previous(Synth& synth) noexcept {
    if (!batching_)
        return;
    Batch* own = synth.voice->batch;
    const bool searches = ((space_.block_number ^ synth.id) & (search_interval - 1)) == 0;
    const bool alone = !same_kind(synth, synth.previous);
    if ((own && own->scattered && !searches) || (alone && !searches) || !ready(&synth))
        return;
    if (alone || !ready(synth.previous) || !alike(static_cast<Synth&>(*synth.previous), synth)) {
        if (searches)
            join_scattered(synth);
        return;
    }
    Synth& previous = static_cast<Synth&>(*synth.previous);
    Batch* front = previous.voice->batch;
    if (front && front->stale)
        return;
    if (own) {
        if (!front)
            (void)prepend(*own, previous);
        else if (front != own)
            fill_up(*front, *own, synth, searches);
        return;
    }
    if (front) {
        (void)append(*front, synth);
        return;
    }
    // Three that stand alone are worth a batch.
    if (!ready(previous.previous) || !alike(static_cast<Synth&>(*previous.previous), synth))
        return;
    Synth& first = static_cast<Synth&>(*previous.previous);
    if (first.voice->batch)
        return;
    if (Batch* batch = make_batch(*synth.voice)) {
        take_in(*batch, first, 0);
        take_in(*batch, previous, 1);
        take_in(*batch, synth, 2);
    }
}

// ---- batches: computing them

namespace {

/// What a bus unit reaches: first and last of all lanes. Empty if no lane reaches any.
struct Reach {
    int64_t low = INT64_MAX, high = INT64_MIN;
};

Reach reach_of(const NativeCode::BusUse& use, Batch& batch) noexcept {
    const Op& op = batch.code->batch.ops[use.op];
    const Operand& bus = op.operands[0];
    const auto* numbers = reinterpret_cast<const float*>(
        bus.offset + (bus.base == Base::record ? reinterpret_cast<uintptr_t>(batch.record()) : 0));
    const bool writes = use.effect == Effect::writes_audio || use.effect == Effect::writes_control;
    const int64_t channels = writes ? op.inputs - use.first_channel : op.outputs;
    Reach reach;
    for (uint32_t left = batch.live; left; left &= left - 1) {
        const float number = numbers[std::countr_zero(left)];
        if (!(number < 1e9f))
            continue;
        const auto first = int64_t(std::max(number, 0.f)); // below 0 is the first bus, too
        reach.low = std::min(reach.low, first);
        reach.high = std::max(reach.high, first + channels - 1);
    }
    return reach;
}

bool audio(Effect effect) noexcept {
    return effect == Effect::writes_audio || effect == Effect::reads_audio;
}
bool writes(Effect effect) noexcept {
    return effect == Effect::writes_audio || effect == Effect::writes_control;
}

} // namespace

/// Whether no operation writes a bus that another one reaches, so that it is the same whether the voices take turns or
/// the operations.
bool Ensemble::independent(Batch& batch) noexcept {
    const auto& uses = batch.code->bus_uses;
    if (uses.empty())
        return true;
    follow_maps(batch); // bus numbers may come from buses, too
    for (size_t a = 0; a < uses.size(); ++a) {
        const Reach one = reach_of(uses[a], batch);
        for (size_t b = a + 1; b < uses.size(); ++b) {
            if (audio(uses[a].effect) != audio(uses[b].effect) || !(writes(uses[a].effect) || writes(uses[b].effect)))
                continue;
            const Reach other = reach_of(uses[b], batch);
            if (one.low <= other.high && other.low <= one.high)
                return false;
        }
    }
    return true;
}

void Ensemble::render(Batch& batch) noexcept {
    Block block;
    prepare(block, batch.record(), *batch.rates);
    block.live = batch.live;
    block.synths = batch.synths;
    block.mapped = nullptr;
    follow_maps(batch);
    if (batch.scattered) {
        render_scattered(batch, block);
    } else {
        FetchAhead ahead(batch, batch.code->batch.ops.size());
        for (const Op& op : batch.code->batch.ops) {
            op.run(op, block);
            ahead.go_on();
        }
    }
    if (!batch.code->forgotten.empty())
        for (uint32_t left = batch.live; left; left &= left - 1)
            forget(*batch.synths[std::countr_zero(left)]->voice);
}

} // namespace scs
