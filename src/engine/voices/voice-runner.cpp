// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/voices/voice-runner.hpp"

#include "engine/guard/fault-guard.hpp"
#include "engine/nodes/node.hpp"
#include "engine/plugins/ugens.hpp"
#include "engine/rt/deadline.hpp"
#include "engine/rt/pool.hpp"
#include "engine/voices/fetch-ahead.hpp"
#include "engine/voices/rest.hpp"
#include "engine/world/buffers.hpp"
#include "engine/world/buses.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <span>

namespace scs {
namespace {

constexpr int64_t cost_of_awake = 10'000; ///< ns, of as many operations that may be at rest as a word has bits
constexpr size_t starts_at_once = 8;

/// Space::own_buffers.
OwnBuffers* own_buffers(const Block& block, int lane) noexcept SCS_NONBLOCKING {
    const Voice& voice = *block.synths[lane]->voice;
    const NativeCode& code = *voice.code;
    if (!code.own_buffers)
        return nullptr;
    const size_t lanes = voice.batch ? size_t(code.batch.lanes) : 1;
    const uintptr_t first = block.bases[size_t(Base::record)] + code.own_buffers_at * lanes;
    return reinterpret_cast<OwnBuffers* const*>(first)[lane];
}

} // namespace

VoiceRunner::VoiceRunner(const Settings& settings, int lanes, Buses& buses, Buffers& buffers, RandomState* random,
                         Pool& pool, HeldOutput& held, Deadline* deadline)
    : held_(held), deadline_(deadline) {
    const size_t width = size_t(lanes), block = size_t(settings.block_size);
    if (settings.native_ugens) {
        audio_ = aligned_zeros<float>(most_audio_wires * block * width);
        control_ = aligned_zeros<float>(most_control_wires * width);
    }
    rows_ = aligned_zeros<float>(row_sets * block * width);
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
    space_.buffer = [](void* table, int32_t number) SCS_NONBLOCKING {
        const Buffer buffer = static_cast<Buffers*>(table)->get(number);
        return SampleBuffer{buffer.data, buffer.frames, buffer.channels, buffer.sample_rate};
    };
    space_.buffer_count = buffers.count();
    space_.own_buffers = own_buffers;
    space_.random = random;
    space_.rows = rows_.get();
    space_.release = release_to_follow(settings);
    space_.allocator = &pool;
    // Kernels in a UnitGraph call these, too. There a fault may end the synth at any instruction, but not within these.
    space_.allocate = [](void* pool_memory, size_t bytes) SCS_NONBLOCKING -> void* {
        const FaultGuard::HostCode whole;
        return static_cast<Pool*>(pool_memory)->allocate(bytes);
    };
    space_.free = [](void* pool_memory, void* memory) SCS_NONBLOCKING {
        const FaultGuard::HostCode whole;
        static_cast<Pool*>(pool_memory)->free(memory);
    };
}

void VoiceRunner::set_host(void* host, DoneAction done_action) noexcept {
    space_.host = host;
    space_.done_action = done_action;
}

VoiceRates VoiceRunner::rates_for(double sample_rate, int frames) noexcept {
    constexpr double two_pi = 6.28318530717958647692;
    const auto rates = [](double r) { return UnitRate{r, 1. / r, two_pi / r}; };
    return {rates(sample_rate), rates(sample_rate / frames)};
}

Block VoiceRunner::block(std::byte* record, const VoiceRates& rates) noexcept {
    return {.bases = {0, reinterpret_cast<uintptr_t>(audio_.get()), reinterpret_cast<uintptr_t>(control_.get()),
                      reinterpret_cast<uintptr_t>(record)},
            .live = 1,
            .tails = 0,
            .frames = space_.block_size,
            .audio = &rates.audio,
            .control = &rates.control,
            .synths = nullptr,
            .mapped = nullptr,
            .space = &space_};
}

void VoiceRunner::use_own_rate(Block& block, const NativeCode& code, double sample_rate) noexcept {
    const SynthRate& rate = code.ticks.rate;
    others_ = rates_for(sample_rate * rate.factor, rate.frames);
    block.frames = rate.frames;
    block.audio = &others_.audio;
    block.control = &others_.control;
    block.ticks = &code.ticks;
}

bool VoiceRunner::stops_after(const Sequence::Part& part) noexcept {
    FaultGuard::progress();
    return deadline_ && deadline_->spend(part.nsec);
}

bool VoiceRunner::run_parts(const Sequence& sequence, Block& block) noexcept {
    const Op* op = sequence.ops.data();
    for (const Sequence::Part& part : sequence.parts) {
        for (const Op* const end = sequence.ops.data() + part.end; op != end; ++op)
            op->run(*op, block);
        if (&part != &sequence.parts.back() && stops_after(part))
            return false;
    }
    return true;
}

// ---- blocks and rates of their own

Ticks VoiceRunner::begin_ticks(Voice& voice) const noexcept {
    Ticks ticks = voice.code->ticks;
    ticks.begin(space_.block_number, voice.caught_up);
    voice.caught_up = true;
    return ticks;
}

/// Nothing of such code may be at rest.
void VoiceRunner::run_ticks(const OpList& list, Block& block, Ticks ticks) noexcept {
    block.ticks = &ticks;
    if (run_parts(list, block))
        run_later_ticks(list, block, ticks);
}

void VoiceRunner::run_later_ticks(const OpList& list, Block& block, Ticks& ticks) noexcept {
    while (ticks.go_on() && !stops_after(list.later.parts.back()) && run_parts(list.later, block)) {
    }
}

// ---- a lone voice

void VoiceRunner::follow_maps(const Voice& voice, std::byte* record, uint32_t lanes, uint32_t lane) noexcept {
    auto* values = reinterpret_cast<float*>(record);
    const int32_t* mapped = voice.mapped();
    for (uint32_t i = 0; i < voice.code->controls; ++i) {
        if (mapped[i] == 0)
            continue;
        float& value = values[i * lanes + lane];
        const float now = mapped[i] > 0 ? space_.control_bus[mapped[i] - 1]
                                        : space_.audio_bus[size_t(-mapped[i] - 1) * size_t(space_.block_size)];
        if (std::bit_cast<uint32_t>(now) == std::bit_cast<uint32_t>(value))
            continue;
        value = now;
        wake_readers(*voice.code, record, lanes, i);
    }
}

void VoiceRunner::forget_triggers(Voice& voice) noexcept {
    for (const uint32_t control : voice.code->forgotten)
        voice.set_values()[control] = 0.f;
}

Block VoiceRunner::lone_block(Synth* const* synth) noexcept {
    const Voice& voice = *(*synth)->voice;
    Block block = this->block(voice.record, rates_at(voice.sample_rate));
    block.synths = synth;
    block.mapped = voice.mapped();
    return block;
}

void VoiceRunner::run_all(Synth& synth, const std::vector<Op>& ops) noexcept {
    Synth* const synths[] = {&synth};
    Block block = lone_block(synths);
    if (synth.voice->code->own_rate)
        use_own_rate(block, *synth.voice->code, synth.voice->sample_rate);
    for (const Op& op : ops)
        op.run(op, block);
}

/// Runs a list's parts after the first, for a voice or those of a batch, of which it is the first. Stops when the
/// deadline passes. Here it is seen whether they have blocks or a rate of their own: most never come here.
void VoiceRunner::run_further_parts(const OpList& list, Block& block, Voice& voice) noexcept {
    if (voice.code->own_rate) {
        use_own_rate(block, *voice.code, voice.sample_rate);
        return run_ticks(list, block, begin_ticks(voice));
    }
    const Op* op = list.ops.data() + list.parts[0].end;
    for (size_t part = 1; part < list.parts.size() && !stops_after(list.parts[part - 1]); ++part)
        for (const Op* const end = list.ops.data() + list.parts[part].end; op != end; ++op)
            op->run(*op, block);
}

bool VoiceRunner::start(Synth& synth) noexcept {
    const Voice& voice = *synth.voice;
    space_.sample_offset = voice.sample_offset;
    space_.subsample_offset = voice.subsample_offset;
    if (voice.maps)
        follow_maps(voice, voice.record, 1, 0);
    Synth* const synths[] = {&synth};
    Block block = lone_block(synths);
    if (voice.code->own_rate)
        return start_with_ticks(voice, block);
    return run_starts(*voice.code, [&block](const Op&) -> Block& { return block; });
}

bool VoiceRunner::start_with_ticks(const Voice& voice, Block& block) noexcept {
    const VoiceRates rates = rates_for(voice.sample_rate);
    Block servers = block; // for what is computed once in one of the server's
    servers.audio = &rates.audio;
    servers.control = &rates.control;
    use_own_rate(block, *voice.code, voice.sample_rate);
    Ticks ticks = voice.code->ticks;
    ticks.begin(space_.block_number, voice.caught_up);
    block.ticks = &ticks;
    return run_starts(*voice.code, [&](const Op& op) -> Block& { return voice.code->once[op.unit] ? servers : block; });
}

/// Goes on with the constructors. `block_for` has the block for each of them.
template <class BlockFor>
bool VoiceRunner::run_starts(const NativeCode& code, BlockFor&& block_for) noexcept {
    const std::span<const Op> ops(code.starts);
    while (started_ < ops.size()) {
        if (deadline_ && deadline_->spend(int64_t(starts_at_once) * code.start_cost))
            return false;
        const size_t end = std::min(started_ + starts_at_once, ops.size());
        for (bool again = false; started_ < end && !again; started_ += !again) {
            Block& its = block_for(ops[started_]);
            ops[started_].run(ops[started_], its);
            again = its.again;
            if (again) {
                its.again = false;
                FaultGuard::progress();
            }
        }
    }
    started_ = 0;
    return true;
}

void VoiceRunner::stop(Synth& synth) noexcept {
    run_all(synth, synth.voice->code->stops);
}

void VoiceRunner::write_tail(Synth& synth) noexcept {
    run_all(synth, synth.voice->code->lone_tails);
}

void VoiceRunner::run(Synth& synth) noexcept {
    Voice& voice = *synth.voice;
    if (voice.maps)
        follow_maps(voice, voice.record, 1, 0);
    Synth* const synths[] = {&synth};
    Block block = lone_block(synths);
    const OpList& list = voice.code->lone;
    const Op *op = list.ops.data() + voice.code->resting.ops(), *const end = list.ops.data() + list.parts[0].end;
    if (run_awake(*voice.code, list, block, deadline_, cost_of_awake)) {
        for (; op != end; ++op)
            op->run(*op, block);
        if (list.parts.size() > 1)
            run_further_parts(list, block, voice);
    }
    forget_triggers(voice);
}

// ---- a batch

void VoiceRunner::follow_maps(Batch& batch) noexcept {
    for (uint32_t left = batch.mapped; left; left &= left - 1) {
        const uint32_t lane = uint32_t(std::countr_zero(left));
        follow_maps(*batch.synths[lane]->voice, batch.record(), uint32_t(batch.code->batch.lanes), lane);
    }
}

Block VoiceRunner::batch_block(Batch& batch, double sample_rate, uint32_t live) noexcept {
    Block block = this->block(batch.record(), rates_at(sample_rate));
    block.live = live;
    block.synths = batch.synths;
    return block;
}

void VoiceRunner::write_tails(Batch& batch, uint32_t lanes) noexcept {
    Block block = batch_block(batch, rates_.audio.samples, 0);
    block.tails = lanes;
    if (batch.code->own_rate)
        use_own_rate(block, *batch.code, rates_.audio.samples);
    for (const Op& op : batch.code->batch_tails)
        op.run(op, block);
}

void VoiceRunner::run(Batch& batch, uint32_t live, uint32_t tails) noexcept {
    Block block = batch_block(batch, batch.synths[batch.first()]->voice->sample_rate, live);
    block.tails = tails;
    follow_maps(batch);
    const OpList& list = batch.code->batch;
    const size_t first = batch.code->resting.ops();
    const bool goes_on = run_awake(*batch.code, list, block, deadline_, cost_of_awake);
    if (goes_on && batch.interleaved) {
        run_holding(batch, block);
    } else if (goes_on) {
        const size_t end = list.parts[0].end;
        FetchAhead ahead(batch, end - first);
        for (size_t i = first; i < end; ++i) {
            list.ops[i].run(list.ops[i], block);
            ahead.go_on();
        }
        if (list.parts.size() > 1)
            run_further_parts(list, block, *batch.synths[batch.first()]->voice);
    }
    forget_triggers(batch);
}

void VoiceRunner::forget_triggers(Batch& batch) noexcept {
    if (!batch.code->forgotten.empty())
        for (uint32_t left = batch.live; left; left &= left - 1)
            forget_triggers(*batch.synths[std::countr_zero(left)]->voice);
}

void VoiceRunner::run_holding(Batch& batch, Block& block) noexcept {
    const auto& ops = batch.code->batch.ops;
    auto hold = batch.code->holds.begin();
    const Sequence::Part* part = batch.code->batch.parts.data();
    for (auto i = uint32_t(batch.code->resting.ops()); i < ops.size(); ++i) {
        if (i == part->end && stops_after(*part++))
            return;
        if (hold == batch.code->holds.end() || hold->op != i) {
            ops[i].run(ops[i], block);
            continue;
        }
        this->hold(batch, *hold, ops[i], block);
        ++hold;
    }
}

void VoiceRunner::hold(Batch& batch, const NativeCode::Hold& hold, const Op& op, Block& block) noexcept {
    held_.lend(space_, batch, hold.set);
    hold.hold(op, block);
    space_.rows = rows_.get();
}

// ---- ahead of a turn

namespace {

bool is_in(uint32_t set, size_t i) noexcept {
    return i < 32 && (set >> i & 1u);
}

/// Runs a list but for the operations in `keeps`, the inputs of which are kept if they don't write at once.
void run_keeping(const NativeCode& code, const OpList& list, std::span<const NativeCode::Kept> keeps, Block& block,
                 float* kept, uint32_t at_once) noexcept {
    const size_t row = size_t(block.frames) * size_t(list.lanes);
    auto keep = keeps.begin();
    (void)run_awake(code, list, block, nullptr, 0);
    for (auto i = uint32_t(code.resting.ops()); i < list.ops.size(); ++i) {
        const Op& op = list.ops[i];
        if (keep == keeps.end() || keep->op != i) {
            op.run(op, block);
            continue;
        }
        if (is_in(at_once, size_t(keep - keeps.begin()))) {
            op.run(op, block);
            ++keep;
            continue;
        }
        float* to = kept + keep->set * row;
        for (const Operand& input : std::span(op.operands, op.inputs)) {
            if (input.base != Base::audio && input.base != Base::control)
                continue;
            std::memcpy(to, reinterpret_cast<const float*>(block.bases[size_t(input.base)] + input.offset),
                        (input.base == Base::audio ? row : size_t(list.lanes)) * sizeof(float));
            to += row;
        }
        ++keep;
    }
}

} // namespace

void VoiceRunner::run_ahead(Synth& synth, float* kept, uint32_t at_once) noexcept {
    Voice& voice = *synth.voice;
    Synth* const synths[] = {&synth};
    Block block = lone_block(synths);
    run_keeping(*voice.code, voice.code->lone, voice.code->lone_keeps, block, kept, at_once);
    forget_triggers(voice);
}

void VoiceRunner::run_kept(Synth& synth, float* kept, uint32_t at_once) noexcept {
    Synth* const synths[] = {&synth};
    Block block = lone_block(synths);
    block.bases[size_t(Base::audio)] = reinterpret_cast<uintptr_t>(kept);
    const auto& keeps = synth.voice->code->lone_keeps;
    for (size_t i = 0; i < keeps.size(); ++i)
        if (!is_in(at_once, i))
            keeps[i].late.run(keeps[i].late, block);
}

void VoiceRunner::run_ahead(Batch& batch, float* kept, uint32_t at_once) noexcept {
    Block block = batch_block(batch, batch.synths[batch.first()]->voice->sample_rate, batch.live);
    run_keeping(*batch.code, batch.code->batch, batch.code->batch_keeps, block, kept, at_once);
    forget_triggers(batch);
}

void VoiceRunner::run_kept(Batch& batch, float* kept, uint32_t at_once) noexcept {
    Block block = batch_block(batch, batch.synths[batch.first()]->voice->sample_rate, batch.live);
    block.bases[size_t(Base::audio)] = reinterpret_cast<uintptr_t>(kept);
    const NativeCode& code = *batch.code;
    for (size_t i = 0; i < code.batch_keeps.size(); ++i) {
        const Op& late = code.batch_keeps[i].late;
        if (is_in(at_once, i))
            continue;
        if (batch.interleaved) // it only adds, so each of these has its hold
            hold(batch, code.holds[i], late, block);
        else
            late.run(late, block);
    }
}

void VoiceRunner::add_held(Synth& synth) noexcept {
    Voice& voice = *synth.voice;
    Batch& batch = *voice.batch;
    Block block = batch_block(batch, voice.sample_rate, 1u << voice.lane);
    for (const NativeCode::Hold& hold : batch.code->holds) {
        held_.lend(space_, batch, hold.set);
        hold.hand_over(batch.code->batch.ops[hold.op], block);
    }
    space_.rows = rows_.get();
}

} // namespace scs
