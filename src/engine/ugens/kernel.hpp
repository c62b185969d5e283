// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/nonblocking.hpp"
#include "engine/base/release.hpp"
#include "engine/synthdef/synthdef.hpp"
#include "engine/ugens/random-state.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace scs {

struct OwnBuffers;
struct Synth;
class SynthListener;
struct Space;
struct Ticks;

// A native UGen is a set of kernels: functions that compute one block of it, for one voice or for a batch of voices in
// the lanes of vectors. All forms come from one definition of the arithmetic and give the same bits; see forms.hpp.

/// What an operand's offset counts from.
enum class Base : uint32_t {
    fixed,   ///< 0: the offset is an address; constants
    audio,   ///< the audio wires: block_size frames of as many lanes as the form has, for each wire
    control, ///< the control wires: a float for each lane
    record,  ///< what a voice keeps: its controls, its scalar wires, the kernels' states, some control wires
};
constexpr size_t base_count = 4;

/// The most bytes that a unit may keep, in one lane, to be looked at for whether it is at rest (voices/rest.hpp).
constexpr size_t most_resting_state = 128;

/// Native units need blocks of a multiple of this many frames.
constexpr int block_multiple = 64;

/// [any] Whether native units can have such blocks, on a server with blocks of `block` frames.
constexpr bool fits_native_units(int frames, int block) noexcept {
    return frames % block_multiple == 0 && frames <= block;
}

struct Operand {
    uintptr_t offset; ///< bytes
    Base base;
    Rate rate; ///< scalar for constants
};

struct Block;
struct Op;
struct Pull;
using KernelFunction = void (*)(const Op&, Block&) SCS_NONBLOCKING;
using PullFunction = float (*)(const Op&, Pull&) SCS_NONBLOCKING;

/// A factor for an operation's output that takes the place of a multiplication in the program.
struct Gain {
    Operand factor;
    uint32_t state; ///< the multiplication's state, bytes into the record: the factor in the last block
    bool ramped;    ///< the factor is approached in a line over the block; else it is held
};

/// A kernel at its place in a program.
struct Op {
    KernelFunction run;
    const Operand* operands; ///< inputs, then outputs
    const Gain* gain;        ///< null: none
    uint32_t state;          ///< bytes into the record
    uint32_t done;           ///< the same, of the done flag: its own, or that of the unit it waits for
    uint16_t inputs, outputs;
    int16_t special_index;
    uint16_t unit; ///< index of the program's unit
};

/// A unit at demand rate at its place in a program. Its address is the offset of the operands that are its output,
/// whose base is `fixed`.
struct DemandSource {
    PullFunction pull;
    Op op;
};

/// A buffer of interleaved samples, or one without data.
struct SampleBuffer {
    const float* data = nullptr;
    int32_t frames = 0, channels = 0;
    double rate = 0; ///< Hz
};

/// Rates of audio units or of control units.
struct UnitRate {
    double samples;  ///< a second
    double duration; ///< of a sample, seconds
    double radians;  ///< 2 pi / samples
};

/// What a kernel gets to compute a block. The lanes are the voices of a batch in the order of their turns, or a lone
/// voice.
struct Block {
    uintptr_t bases[base_count];
    uint32_t live;  ///< a bit for each lane with a voice; the others are computed, too, without meaning
    uint32_t tails; ///< those of voices that are over, but for the sound that Kernel::batch_tail writes
    int32_t frames; ///< a multiple of block_multiple
    const UnitRate* audio;
    const UnitRate* control;
    Synth* const* synths;  ///< a voice each lane
    const int32_t* mapped; ///< lone: what each control is mapped to, see Voice; null for batches
    Space* space;
    /// Graphs of plugins' units: for buffers that only the synth has, whose numbers are Space::buffer_count and more.
    /// Null: these are voices, see Space::own_buffers.
    SampleBuffer (*own_buffer)(const Synth&, int32_t number) SCS_NONBLOCKING = nullptr;
    /// Of voices with blocks or a rate of their own: where this block lies in the server's; else null.
    const Ticks* ticks = nullptr;
    /// Set by a constructor that isn't done, as it takes too long: it is called again, in this block or another.
    bool again = false;
};

constexpr int row_sets = 8;

/// What all voices of an engine share, as far as kernels may use it. Owned by the engine, [rt].
struct Space {
    float* audio_bus;       ///< block_size frames for each bus
    int32_t* audio_touched; ///< number of the block that last wrote each
    float* control_bus;
    int32_t* control_touched;
    int32_t audio_buses, control_buses;
    int32_t block_number;
    int32_t block_size;      ///< frames
    int32_t inputs, outputs; ///< of the server, which are its first audio buses
    int32_t sample_offset;   ///< where a synth that starts now begins, frame in its first block
    float subsample_offset;  ///< how far after that frame it should begin, 0 to 1
    RandomState* random;     ///< the generator that synths draw from
    float* rows;             ///< scratch: row_sets times block_size frames for each lane
    int32_t* held_buses;     ///< for hold: each lane's first bus
    void* buffers;           ///< for buffer
    SampleBuffer (*buffer)(void* buffers,
                           int32_t number) SCS_NONBLOCKING; ///< 0 <= number < buffer_count; holds for the block
    int32_t buffer_count;
    /// Voices: the buffers that only this lane's voice has; null: it has none, or no memory for them.
    OwnBuffers* (*own_buffers)(const Block&, int lane)SCS_NONBLOCKING;
    Release release; ///< whose units these are to sound as; for constructors, and what is as rare
    void* host;      ///< for done_action
    void (*done_action)(void* host, Synth&, int action) SCS_NONBLOCKING;
    SynthListener* listener;                                         ///< for what units tell
    void* allocator;                                                 ///< for allocate and free
    void* (*allocate)(void* allocator, size_t bytes)SCS_NONBLOCKING; ///< real-time memory, 64-byte aligned, or null
    void (*free)(void* allocator, void*) SCS_NONBLOCKING;
};

/// What a kernel does besides computing outputs from inputs. Decides what may be batched.
enum class Effect : uint8_t {
    none,
    writes_audio,   ///< adds to or replaces audio buses from input 0 on, one for each input from first_channel on
    reads_audio,    ///< reads audio buses from input 0 on, one for each output
    writes_control, ///< the same with control buses
    reads_control,
    draws, ///< draws random numbers in each block
};

/// Kernels that generate() (compile/code.cpp) treats specially or joins with their neighbours.
enum class Role : uint8_t {
    other,
    product,  ///< input 0 times input 1: at audio rate a Gain of the kernel before
    absolute, ///< |input 0|
    greater,  ///< input 0 > input 1
};

/// One UGen at certain rates. The functions are all the same arithmetic. The fields below them say what else a kernel
/// needs or does, so that the code which computes it need not know which UGen it is.
struct Kernel {
    KernelFunction start = nullptr; ///< [rt] lone: what the constructor does, outputs' first samples; record is zeroed
    KernelFunction lone = nullptr;  ///< [rt] a block of one voice; null for units that only start
    KernelFunction batch = nullptr; ///< [rt] a block of all lanes
    /// The same with a gain; null: a multiplication stays an operation of its own.
    KernelFunction lone_scaled = nullptr, batch_scaled = nullptr;
    KernelFunction stop = nullptr; ///< [rt] lone: frees what it owns; sees nothing but its state; may be null
    /// [rt] For kernels that only add to audio buses. `hold`, in place of batch, stores what each lane is to add in the
    /// space's rows and held_buses. `hand_over` adds it in the turn of one voice, the only lane in Block::live.
    KernelFunction hold = nullptr, hand_over = nullptr;
    /// [rt] For kernels whose stop() writes to buses: write the same, so that stop() has nothing left to write.
    /// batch_tail does so for the lanes in Block::tails. If some are live, too, `batch` does it in the order of the
    /// lanes.
    KernelFunction lone_tail = nullptr, batch_tail = nullptr;
    /// Of units at demand rate, which have neither lone nor batch: give the next value of a lone voice, or of a lane.
    PullFunction pull = nullptr, pull_of_lane = nullptr;
    uint16_t state64 = 0; ///< 8-byte items in a lane's state, which come first
    uint16_t state32 = 0; ///< 4-byte items, after those
    Effect effect = Effect::none;
    uint8_t numbers_a_frame = 0;      ///< of what draws: how many in each frame; 0: that varies
    uint8_t first_channel = 1;        ///< of what writes buses: inputs before the first that is written
    bool acts_when_done = false;      ///< has a done flag; the unit's row (units/) says which input is the action
    bool reads_after_writing = false; ///< an output may not share the memory of an input
    bool reads_controls = false;      ///< the voice's controls from special_index on: only where all units are native
    bool reads_buffers = false;       ///< sample buffers by number
    bool forgets_controls = false;    ///< what the controls from special_index on, one an output, are set to
    bool has_gate = false;            ///< input 0 is a gate; minus zero when the unit starts: it was open until then
    bool waits_for_done = false;      ///< it looks at the flag of the unit that computes input 0
    bool pulls = false;               ///< takes values from inputs at demand rate; others can't have such
    bool sends = false;               ///< tells the space's listener of something in its blocks
    bool looks_back = false;          ///< it reads what was on a bus in the block before, too
    bool takes_long = false;          ///< a block may take milliseconds: the deadline is asked before what comes next
    bool keeps_own_buffers = false;   ///< its state is what Space::own_buffers gives, and nothing else
    bool writes_own_buffers = false;  ///< writes to what Space::own_buffers gives: only where all units are native
    const Kernel* state_of = nullptr; ///< its state is that of the program's one unit with this kernel
    Role role = Role::other;
    /// At control rate: a kernel that computes |output 0| > input 1 with this kernel's state and input 0, one operation
    /// in place of three. Null: there is none.
    const Kernel* exceeds = nullptr;
    int64_t start_cost = 200; ///< ns that start() may take

    /// At control rate: whether what it computes, and its state afterwards, depend on nothing but its inputs, its state
    /// and the controls that it reads. Then it need not be computed while all of them stay. Done actions are another
    /// question: ending_of().
    constexpr bool may_be_skipped() const noexcept {
        return effect == Effect::none && !reads_buffers && !forgets_controls && !waits_for_done && !pulls && !sends &&
               !looks_back && !writes_own_buffers && !state_of && !stop;
    }
};

/// What NativeUgens::find() gets to know about a unit.
struct Signature {
    struct Input {
        Rate rate;
        bool constant;
        float value; ///< of a constant
        bool late;   ///< the unit that computes it gives 0 before the first block, as those at demand rate do
        bool own_buffer = false; ///< it is the number of a LocalBuf
    };
    Rate rate;
    int special_index;
    std::span<const Input> inputs;
    size_t outputs;
    Release release;
    bool right_durations = false; ///< see NativeUgens
    bool own_rate = false;        ///< its synths may have blocks or a rate of their own

    bool audio(size_t input) const noexcept { return inputs[input].rate == Rate::audio; }
};

/// What a plugin's unit gives its synth in place of the engine's own. Units of that synth that would use it can't be
/// native.
enum class Gives : uint8_t { nothing, generator };

/// A UGen by name. Several families may have UGens of one name.
struct NativeUgen {
    std::string_view name;
    const Kernel* (*choose)(const Signature&); ///< the kernel for it, or null; null: there is none
    Gives gives = Gives::nothing;
    /// Its state changes in each block, unless input 0, a frequency, is constantly 0. To look whether it has come to
    /// rest would only cost time, so it isn't looked for where this is said.
    bool oscillates = false;
};

/// The UGens of one instruction set.
struct NativeUgens {
    int lanes; ///< voices in a batch
    std::span<const std::span<const NativeUgen>> families;
    Release release = Release::v3_13; ///< whose units they are to sound as
    /// An EnvGen at control rate lasts as long as since 3.14, whatever the release. Until 3.13 each segment lost what
    /// was left of its time beyond whole blocks.
    bool right_durations = false;

    /// [any] The kernel for a unit, or null.
    const Kernel* find(std::string_view name, const Signature&) const noexcept;
    /// [any] What a plugin's unit gives its synth.
    Gives gives(std::string_view name) const noexcept;
    /// [any] NativeUgen::oscillates
    bool oscillates(std::string_view name) const noexcept;

private:
    template <class Fits>
    const NativeUgen* first_row(std::string_view name, Fits&&) const noexcept;
};

} // namespace scs
