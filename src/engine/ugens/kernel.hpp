// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/synthdef/synthdef.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace scs {

struct Synth;
struct Space;

// A native UGen is a set of kernels: functions that compute one block of it, for one voice or for a batch of voices in
// the lanes of vectors. All forms come from one definition of the arithmetic and give the same bits; see forms.hpp.

/// What an operand's offset counts from.
enum class Base : uint32_t {
    fixed,   ///< 0: the offset is an address; constants
    audio,   ///< the audio wires: block_size frames of as many lanes as the form has, for each wire
    control, ///< the control wires: a float for each lane
    record,  ///< what a voice keeps: its controls, its scalar wires, the kernels' states
};
constexpr size_t base_count = 4;

/// Blocks have a multiple of so many frames; with others nothing is native.
constexpr int block_multiple = 64;

struct Operand {
    uintptr_t offset; ///< bytes
    Base base;
    Rate rate; ///< scalar for constants
};

struct Block;
struct Op;
using KernelFunction = void (*)(const Op&, Block&);

/// A factor of an operation's output, which another operation of the program would have multiplied it by.
struct Gain {
    Operand factor;
    uint32_t state; ///< of the multiplication, bytes into the record: the factor in the block before
    bool ramped;    ///< it is reached in a line over the block, otherwise it is held
};

/// A kernel at its place in a program.
struct Op {
    KernelFunction run;
    const Operand* operands; ///< inputs, then outputs
    const Gain* gain;        ///< null: none
    uint32_t state;          ///< bytes into the record
    uint32_t done;           ///< the same, of a flag: whether it is done, or the one whose end it waits for
    uint16_t inputs, outputs;
    int16_t special_index;
    uint16_t unit; ///< index of the program's unit
};

/// Rates of audio units or of control units.
struct UnitRate {
    double samples;  ///< a second
    double duration; ///< of a sample, seconds
    double radians;  ///< 2 pi / samples
};

/// What a form gets to compute a block. Lanes: voices of a batch in the order of their turns; one for a lone voice.
struct Block {
    uintptr_t bases[base_count];
    uint32_t live;  ///< a bit for each lane with a voice; the others are computed, too, and mean nothing
    int32_t frames; ///< a multiple of block_multiple
    const UnitRate* audio;
    const UnitRate* control;
    Synth* const* synths;  ///< a voice each lane
    const int32_t* mapped; ///< lone: what each control is mapped to, see Voice; null for batches
    Space* space;
};

/// taus88, whose state the plugins' units draw from, too.
struct RandomState {
    uint32_t s1, s2, s3;
};

/// A buffer of interleaved samples, or one without data.
struct SampleBuffer {
    const float* data = nullptr;
    int32_t frames = 0, channels = 0;
    double rate = 0; ///< Hz
};

constexpr int row_sets = 8;

/// What all voices of an engine share, and what kernels may reach of it. Owned by the engine, [rt].
struct Space {
    float* audio_bus;       ///< block_size frames for each bus
    int32_t* audio_touched; ///< number of the block that last wrote each
    float* control_bus;
    int32_t* control_touched;
    int32_t audio_buses, control_buses;
    int32_t block_number;
    int32_t block_size;      ///< frames
    int32_t inputs, outputs; ///< of the server, which are its first audio buses
    int32_t sample_offset;   ///< of what starts now: frame in its first block
    float subsample_offset;  ///< and how far behind that frame it should have started, 0 to 1
    RandomState* random;     ///< the generator that synths draw from
    float* rows;             ///< scratch: row_sets times block_size frames for each lane
    int32_t* held_buses;     ///< for hold: each lane's first bus
    void* buffers;           ///< for buffer
    SampleBuffer (*buffer)(void* buffers, int32_t number); ///< 0 <= number < buffer_count; holds for the block
    int32_t buffer_count;
    void* host; ///< for done_action
    void (*done_action)(void* host, Synth&, int action);
    void* allocator;                                  ///< for allocate and free
    void* (*allocate)(void* allocator, size_t bytes); ///< real-time memory, 64-byte aligned, or null
    void (*free)(void* allocator, void*);
};

/// What a kernel does beyond computing outputs from inputs, for what may be batched.
enum class Effect : uint8_t {
    none,
    writes_audio,   ///< adds to or replaces audio buses from input 0 on, one for each input from first_channel on
    reads_audio,    ///< reads audio buses from input 0 on, one for each output
    writes_control, ///< the same with control buses
    reads_control,
    draws, ///< draws random numbers in each block
};

/// What a kernel computes, for what the generator of voices' code does itself or joins with its neighbours.
enum class Role : uint8_t {
    other,
    product,  ///< input 0 times input 1: at audio rate a Gain of the kernel before
    absolute, ///< |input 0|
    greater,  ///< input 0 > input 1
};

/// One UGen at certain rates. lone, batch and the functions beside them are the same arithmetic; what a kernel needs or
/// does besides stands in the fields below them, so that nothing outside a kernel's file knows it by name.
struct Kernel {
    KernelFunction start = nullptr; ///< [rt] lone: what the constructor does, outputs' first samples; record is zeroed
    KernelFunction lone = nullptr;  ///< [rt] a block of one voice; null for units that only start
    KernelFunction batch = nullptr; ///< [rt] a block of all lanes
    /// The same with a gain; null: a multiplication stays an operation of its own.
    KernelFunction lone_scaled = nullptr, batch_scaled = nullptr;
    KernelFunction stop = nullptr; ///< [rt] lone: gives back what it holds; may be null
    /// [rt] Of what only adds to audio buses: in place of batch keeps what each lane is to add in the space's rows and
    /// buses, and adds it in the turn of one voice, the one lane of Block::live.
    KernelFunction hold = nullptr, hand_over = nullptr;
    uint16_t state64 = 0; ///< 8-byte items in a lane's state, which come first
    uint16_t state32 = 0; ///< 4-byte items behind them
    Effect effect = Effect::none;
    uint8_t first_channel = 1;        ///< of what writes buses: inputs before the first that is written
    int8_t done_action = -1;          ///< index of the input that tells what to do when it is done
    bool reads_after_writing = false; ///< an output may not share the memory of an input
    bool reads_controls = false;      ///< the voice's controls from special_index on: only where all units are native
    bool reads_buffers = false;       ///< sample buffers by number: not where a unit of plugins gives the synth its own
    bool forgets_controls = false;    ///< what the controls from special_index on, one an output, are set to
    bool waits_for_done = false;      ///< it looks at the flag of the unit that computes input 0
    const Kernel* state_of = nullptr; ///< its state is that of the program's one unit with this kernel
    Role role = Role::other;
    /// At control rate: computes whether |output 0| > input 1, with this kernel's state and its input 0, in place of
    /// three operations. Null: there is none.
    const Kernel* exceeds = nullptr;
};

/// What a unit is asked for with.
struct Signature {
    struct Input {
        Rate rate;
        bool constant;
        float value; ///< of a constant
    };
    Rate rate;
    int special_index;
    std::span<const Input> inputs;
    size_t outputs;

    bool audio(size_t input) const noexcept { return inputs[input].rate == Rate::audio; }
};

/// What a unit that is the plugins' gives its synth in place of what is the engine's. Native units of that synth that
/// would use it are the plugins', too.
enum class Gives : uint8_t { nothing, buffers, generator };

/// A UGen by name. Several families may have UGens of one name.
struct NativeUgen {
    std::string_view name;
    const Kernel* (*choose)(const Signature&); ///< the kernel for it, or null; null: there is none
    Gives gives = Gives::nothing;
};

/// The UGens of one instruction set.
struct NativeUgens {
    int lanes; ///< voices in a batch
    std::span<const std::span<const NativeUgen>> families;

    /// [any] The kernel for a unit, or null.
    const Kernel* find(std::string_view name, const Signature&) const noexcept;
    /// [any] What a unit of the plugins gives its synth.
    Gives gives(std::string_view name) const noexcept;
};

} // namespace scs
