// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/settings.hpp"
#include "engine/ugens/kernel.hpp"
#include "engine/voices/batch.hpp"
#include "engine/voices/voice.hpp"

#include <array>
#include <memory>
#include <vector>

namespace scs {

class Buffers;
class Buses;
class Outbox;
class Pool;
struct Node;
struct Program;

/// The rates of voices, which point at theirs for life.
struct VoiceRates {
    UnitRate audio, control;
};

/// All voices of native UGens, and how they are computed: alone, or several of one program in batches.
///
/// A batch's voices are neighbours in one group, or only such voices are between them that it makes no difference
/// (scattered.cpp). The first of them that has its turn computes all; the bits are those that they would have alone. New
/// synths have their first block alone and join afterwards. [rt], after construction.
class Ensemble {
public:
    /// [worker] `random`: the generator that synths draw from.
    Ensemble(const Settings&, Buses&, Buffers&, Pool&, RandomState* random);

    using DoneAction = void (*)(void* host, Synth&, int action);
    /// Whom to tell what a UGen wants when it is done.
    void set_host(void* host, DoneAction) noexcept;
    /// New voices get this rate, Hz.
    void set_sample_rate(double rate) noexcept;
    void begin_block(int32_t number) noexcept { space_.block_number = number; }

    /// Lays a voice out in `memory` (Voice::bytes()); null without memory for its record. `controls`: a value each. It
    /// starts at the frame `sample_offset` of its first block and `subsample_offset` of a frame behind it.
    Voice* make(void* memory, const NativeCode&, const float* controls, int sample_offset,
                float subsample_offset) noexcept;
    /// Starts its units.
    void start(Synth&) noexcept;
    /// A block of a voice that is in no batch.
    void render(Synth&) noexcept;
    /// The same, printing each unit's inputs and outputs (their first samples). For /n_trace.
    void render_traced(Synth&, const Program&, Outbox&) noexcept;
    /// What kernels in a graph of plugins' units run with, but for the synth and what they keep.
    Block lone_block() noexcept;
    /// Gives back what it holds. It leaves its batch.
    void destroy(Synth&) noexcept;

    void set_control(Synth&, int index, float value) noexcept;
    /// To a control bus, an audio bus (-bus - 1), or 0: to none.
    void map_control(Synth&, int index, int32_t to) noexcept;

    /// The batch whose turn comes with this voice, after taking it into the one behind it if it can; null if it is
    /// to be rendered alone. Voices that don't run any more leave it.
    Batch* gather(Synth&) noexcept;
    /// A block of all of them. If they are scattered, what they add to buses comes with their own turns: hand_over().
    void render(Batch&) noexcept;
    /// Whether the voice was computed in this block, but has yet to hand over what it adds to buses.
    bool pending(const Synth&) const noexcept;
    void hand_over(Synth&) noexcept;
    /// After a voice or a batch has been rendered: makes batches of it and what stands before it.
    void join_previous(Synth&) noexcept;
    /// The voice is lone from now on.
    void leave(Synth&) noexcept;
    /// No batch reaches across this node, which isn't in one.
    void part(Node&) noexcept;

private:
    static bool same_kind(const Synth&, const Node*) noexcept;
    bool ready(const Node*) const noexcept;
    bool alike(const Synth&, const Synth&) const noexcept;
    void prepare(Block&, std::byte* record, const VoiceRates&) noexcept;
    void run(Synth&, const std::vector<Op>&) noexcept;
    void settle(Batch&) noexcept;
    void follow_maps(Voice&, std::byte* record, uint32_t lanes, uint32_t lane) noexcept;
    void follow_maps(Batch&) noexcept;
    static void forget(Voice&) noexcept;
    Batch* make_batch(const Voice&) noexcept;
    std::byte* make_record(const NativeCode&) noexcept;
    void free_record(Voice&) noexcept;
    void take_in(Batch&, Synth&, int lane) noexcept;
    void put_out(Batch&, Synth&) noexcept;
    void move(Synth&, Batch& to, int lane) noexcept;
    void shelve(Batch&) noexcept;
    static void forget_lane(Voice&) noexcept;
    void release(Batch&) noexcept;
    int lane_behind(Batch&) noexcept;
    static int members(const Batch&, Synth* (&)[most_lanes]) noexcept;
    void shift(Batch&, bool up) noexcept;
    bool has_room(const Batch&) const noexcept;
    bool append(Batch&, Synth&) noexcept;
    bool prepend(Batch&, Synth&) noexcept;
    void merge(Batch& front, Batch& back) noexcept;
    void fill_up(Batch& front, Batch& back, Synth& first, bool now) noexcept;
    bool independent(Batch&) noexcept;
    void dissolve(Batch&) noexcept;
    void dissolve_and_rest(Batch&) noexcept;

    static bool passes(const NativeCode&, const Node&) noexcept;
    static bool in_order(const NativeCode&, const Batch* front, const Synth& last, const Batch* own,
                         const Synth& first) noexcept;
    void scatter(Batch&) noexcept;
    Synth* partner_before(Synth&, Synth*& first) const noexcept;
    void join_scattered(Synth&) noexcept;
    void review(Batch&, Synth& first) noexcept;
    bool take_slot(Batch&) noexcept;
    void give_slot(Batch&) noexcept;
    void hold_in(const Batch&, const NativeCode::Hold&) noexcept;
    void render_scattered(Batch&, Block&) noexcept;

    Buses& buses_;
    Pool& pool_;
    int lanes_;
    bool batching_;
    Space space_{};
    AlignedFloats audio_, control_, rows_;
    static constexpr int rest_blocks = 64; ///< that voices are alone which couldn't be a batch
    static constexpr int held_slots = 32; ///< scattered batches between their first and last voices' turns
    AlignedFloats held_rows_;
    std::vector<int32_t> held_buses_;
    uint32_t free_slots_ = ~0u;           ///< a bit for each
    /// Voices with larger records keep their own while they are in a batch.
    static constexpr uint32_t most_moved_bytes = 2048;
    std::vector<std::byte> shelving_; ///< scratch: a record for each lane
    std::array<VoiceRates, 16> rates_{};
    size_t current_rates_ = 0;
};

} // namespace scs
