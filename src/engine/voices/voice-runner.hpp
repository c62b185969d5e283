// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/aligned-array.hpp"
#include "engine/base/nonblocking.hpp"
#include "engine/base/settings.hpp"
#include "engine/rt/cache-line.hpp"
#include "engine/ugens/kernel.hpp"
#include "engine/voices/batch.hpp"
#include "engine/voices/held-output.hpp"
#include "engine/voices/voice.hpp"

#include <vector>

namespace scs {

class Buffers;
class Buses;
class Deadline;
class Outbox;
class Pool;
struct Program;

struct VoiceRates {
    UnitRate audio, control;
};

/// Computes voices and batches: calls their operations with wires and rows. These are scratch memory, without meaning
/// from one call to the next. When the deadline passes, it stops between two operations: then the block is of no use.
/// [rt], after construction.
class alignas(cache_line) VoiceRunner {
public:
    /// [worker] lanes: how many a batch has at most. The deadline may be null: then it never stops.
    VoiceRunner(const Settings&, int lanes, Buses&, Buffers&, RandomState*, Pool&, HeldOutput&, Deadline*);

    using DoneAction = void (*)(void* host, Synth&, int action) SCS_NONBLOCKING;
    void set_host(void* host, DoneAction) noexcept SCS_NONBLOCKING;
    void set_listener(SynthListener& listener) noexcept { space_.listener = &listener; }
    void begin_block(int32_t number) noexcept { space_.block_number = number; }
    /// Has units draw random numbers from this generator.
    void draw_from(RandomState& random) noexcept { space_.random = &random; }
    /// Has units use other audio buses than those of the engine, as many.
    void use_audio(float* buses, int32_t* touched) noexcept {
        space_.audio_bus = buses;
        space_.audio_touched = touched;
    }
    /// What native units are called with on its thread.
    Space& space() noexcept { return space_; }
    int32_t block_number() const noexcept { return space_.block_number; }
    /// Sets what new voices get, Hz.
    void set_sample_rate(double rate) noexcept { rates_ = rates_for(rate); }
    const VoiceRates& rates() const noexcept { return rates_; }
    /// What the operations of a lone voice are called with; the caller sets the synth. The rates must live as long as
    /// the Block.
    Block block(std::byte* record, const VoiceRates&) noexcept SCS_NONBLOCKING;

    /// Starts the voice's units. false: the deadline passed before the end; call it again for the same voice before
    /// anything else is run, or abandon_start().
    bool start(Synth&) noexcept SCS_NONBLOCKING;
    void abandon_start() noexcept { started_ = 0; }
    /// Stops the voice's units.
    void stop(Synth&) noexcept SCS_NONBLOCKING;
    /// Computes a block of a lone voice.
    void run(Synth&) noexcept SCS_NONBLOCKING;
    /// The same, and prints each unit's inputs and outputs (their first samples). For /n_trace.
    void run_traced(Synth&, const Program&, Outbox&) noexcept SCS_NONBLOCKING;
    /// Computes a block of all voices of a batch, or of those in the lanes `live`. In an interleaved batch, what they
    /// add to buses goes to its slot of HeldOutput.
    void run(Batch& batch) noexcept { run(batch, batch.live, 0); }
    /// `tails`: the voices in these lanes are over, and write the end of their sound. Not in an interleaved batch.
    void run(Batch&, uint32_t live, uint32_t tails) noexcept SCS_NONBLOCKING;
    /// Writes what a voice that is over would write when it is freed, and then doesn't any more.
    void write_tail(Synth&) noexcept SCS_NONBLOCKING;
    /// The same of lanes of a batch in which no voice is computed in between.
    void write_tails(Batch&, uint32_t lanes) noexcept SCS_NONBLOCKING;
    /// Computes a block of a batch whose code says that it may be computed ahead, but for what it writes to buses: the
    /// inputs of those operations are kept in `kept`, code->batch_sets times block_size frames for each lane. Those of
    /// them write at once that have a bit in `at_once`. Batches without mapped controls only. On any thread that has
    /// the runner for itself, while no other thread touches the batch or those buses.
    void run_ahead(Batch&, float* kept, uint32_t at_once) noexcept SCS_NONBLOCKING;
    /// Does the rest in the batch's turn.
    void run_kept(Batch&, float* kept, uint32_t at_once) noexcept SCS_NONBLOCKING;
    // The same of a lone voice. code->lone_sets times block_size frames are kept.
    void run_ahead(Synth&, float* kept, uint32_t at_once) noexcept SCS_NONBLOCKING;
    void run_kept(Synth&, float* kept, uint32_t at_once) noexcept SCS_NONBLOCKING;
    /// Adds a voice's held output to the buses.
    void add_held(Synth&) noexcept SCS_NONBLOCKING;
    /// Sets mapped controls to what their buses hold now.
    void follow_maps(Batch&) noexcept SCS_NONBLOCKING;

private:
    void follow_maps(const Voice&, std::byte* record, uint32_t lanes, uint32_t lane) noexcept SCS_NONBLOCKING;
    /// Sets the set values of TrigControls to 0; the units have already done so in the record.
    static void forget_triggers(Voice&) noexcept SCS_NONBLOCKING;
    bool stops_after(const Sequence::Part&) noexcept SCS_NONBLOCKING;
    template <class BlockFor>
    bool run_starts(const NativeCode&, BlockFor&&) noexcept SCS_NONBLOCKING;
    bool start_with_ticks(const Voice&, Block&) noexcept SCS_NONBLOCKING;
    /// Computes a sequence, but for what may be at rest. false: the deadline passed in between.
    bool run_parts(const Sequence&, Block&) noexcept SCS_NONBLOCKING;
    /// All blocks that voices with blocks or a rate of their own have in one of the server's; or those after the
    /// current one.
    void run_ticks(const OpList&, Block&, Ticks) noexcept SCS_NONBLOCKING;
    void run_later_ticks(const OpList&, Block&, Ticks&) noexcept SCS_NONBLOCKING;
    /// The first tick of a voice's block.
    Ticks begin_ticks(Voice&) const noexcept SCS_NONBLOCKING;
    /// Makes a Block one of voices with blocks or a rate of their own, which were made when the engine had this rate.
    void use_own_rate(Block&, const NativeCode&, double sample_rate) noexcept SCS_NONBLOCKING;
    Block lone_block(Synth* const* synth) noexcept SCS_NONBLOCKING;
    void run_all(Synth&, const std::vector<Op>&) noexcept SCS_NONBLOCKING;
    void run_further_parts(const OpList&, Block&, Voice&) noexcept SCS_NONBLOCKING;
    Block batch_block(Batch&, double sample_rate, uint32_t live) noexcept SCS_NONBLOCKING;
    static VoiceRates rates_for(double sample_rate, int frames) noexcept SCS_NONBLOCKING;
    VoiceRates rates_for(double sample_rate) const noexcept { return rates_for(sample_rate, space_.block_size); }
    /// Valid until the next call: those of older voices, and of voices with their own, are computed anew each time.
    const VoiceRates& rates_at(double sample_rate) noexcept {
        if (sample_rate == rates_.audio.samples)
            return rates_;
        return others_ = rates_for(sample_rate);
    }
    void run_holding(Batch&, Block&) noexcept SCS_NONBLOCKING;
    void hold(Batch&, const NativeCode::Hold&, const Op&, Block&) noexcept SCS_NONBLOCKING;
    static void forget_triggers(Batch&) noexcept SCS_NONBLOCKING;

    HeldOutput& held_;
    Deadline* deadline_;
    AlignedArray<float> audio_, control_, rows_;
    Space space_{};
    size_t started_ = 0;            ///< units of the voice that is being started
    VoiceRates rates_{}, others_{}; ///< of new voices; of a voice with another rate
};

} // namespace scs
