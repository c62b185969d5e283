// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/aligned-array.hpp"
#include "engine/base/settings.hpp"
#include "engine/ugens/kernel.hpp"
#include "engine/voices/batch.hpp"
#include "engine/voices/held-output.hpp"
#include "engine/voices/voice.hpp"

#include <vector>

namespace scs {

class Buffers;
class Buses;
class Outbox;
class Pool;
struct Program;

/// How a voice or a batch is computed: calls its operations with wires and rows, which are scratch and mean nothing
/// between two calls. [rt], after construction.
class VoiceRunner {
public:
    /// [worker] lanes: the most that a batch has.
    VoiceRunner(const Settings&, int lanes, Buses&, Buffers&, RandomState*, Pool&, HeldOutput&);

    using DoneAction = void (*)(void* host, Synth&, int action);
    void set_host(void* host, DoneAction) noexcept;
    void begin_block(int32_t number) noexcept { space_.block_number = number; }
    int32_t block_number() const noexcept { return space_.block_number; }
    /// What operations of one lone voice run with, but for the synth. The rates have to live as long.
    Block block(std::byte* record, const VoiceRates&) noexcept;

    /// The starts of its units.
    void start(Synth&) noexcept;
    /// What its units do at the end.
    void stop(Synth&) noexcept;
    /// A block of a lone voice.
    void run(Synth&) noexcept;
    /// The same, printing each unit's inputs and outputs (their first samples). For /n_trace.
    void run_traced(Synth&, const Program&, Outbox&) noexcept;
    /// A block of all voices of a batch. An interleaved one has a slot of held output, which gets what they add to
    /// buses.
    void run(Batch&) noexcept;
    /// Adds to buses what is held of a voice.
    void add_held(Synth&) noexcept;
    /// Reads the buses that controls are mapped to: they have what the buses hold when the turn comes.
    void follow_maps(Batch&) noexcept;

private:
    void follow_maps(const Voice&, std::byte* record, uint32_t lanes, uint32_t lane) noexcept;
    /// Sets to 0 what TrigControls were set to, as they have done in the record.
    static void forget_triggers(Voice&) noexcept;
    void run_lone(Synth&, const std::vector<Op>&) noexcept;
    Block batch_block(Batch&, const VoiceRates&, uint32_t live) noexcept;
    void run_holding(Batch&, Block&) noexcept;

    HeldOutput& held_;
    AlignedArray<float> audio_, control_, rows_;
    Space space_{};
};

} // namespace scs
