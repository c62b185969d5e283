// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What units keep that lead signals between a synth with blocks or a rate of its own and audio buses: filters, and what
// waits for its place. One definition for kernels and for units among plugins'. Compiled once, for all instruction
// sets, so kernels call what stands in rate-buses.cpp only.

#include "engine/base/nonblocking.hpp"
#include "engine/rt/half-band.hpp"
#include "engine/synthdef/own-rate.hpp"
#include "engine/ugens/kernel.hpp"

#include <cstddef>
#include <cstdint>

namespace scs {

/// For units that read audio buses. [rt]
class alignas(8) BusReader {
public:
    static size_t bytes(const Ticks&, int channels) noexcept SCS_NONBLOCKING;
    /// In memory of that size, aligned to 8 bytes.
    static BusReader* make(void* memory, const Ticks&, int channels) noexcept SCS_NONBLOCKING;

    // In the first tick of each of the server's blocks: which buses the channels hear in it, from the one of this
    // number on. `find`: what has been written in this block. `find_feedback`: in the block before, too, unless it was
    // heard in that already.
    void find(const Space&, float number) noexcept SCS_NONBLOCKING;
    void find_feedback(const Space&, float number) noexcept SCS_NONBLOCKING;
    // The same of a channel alone: it hears this bus as find_feedback() has it, -1: none; or none, and nothing else
    // changes.
    void follow(const Space&, int channel, int32_t bus) noexcept SCS_NONBLOCKING;
    void rest(int channel) noexcept { list()[channel].bus = -1; }
    /// What follows is heard even if the bus has been heard in the block before.
    void forget_heard() noexcept { in_time_ = 0; }

    /// A channel's first sample, before the synth runs: without a filter, which has heard nothing yet.
    float first(const Space&, const Ticks&, int channel) const noexcept SCS_NONBLOCKING;
    /// Puts a channel's samples of the tick to `to`.
    void take(const Space&, const Ticks&, int channel, float* to) noexcept SCS_NONBLOCKING;

private:
    struct Channel {
        int32_t bus = -1; ///< -1: silence
        HalfBand filter{};
        float* ready = nullptr; ///< samples of the synth's rate that are there already, if the rates differ
        int count = 0;
    };
    Channel* list() noexcept { return reinterpret_cast<Channel*>(this + 1); }
    const Channel* list() const noexcept { return reinterpret_cast<const Channel*>(this + 1); }

    float number_ = 0;    ///< the first bus in the block before
    int32_t in_time_ = 0; ///< a bit for each channel: whether it was read in the block in which it was written
    int channels_ = 0;
};

/// For AudioControl, each channel of which is a value, a control bus that is interpolated over the server's block, or
/// an audio bus. [rt]
class alignas(8) ControlReader {
public:
    static size_t bytes(const Ticks&, int channels) noexcept SCS_NONBLOCKING;
    /// In memory of that size, aligned to 8 bytes.
    static ControlReader* make(void* memory, const Ticks&, int channels) noexcept SCS_NONBLOCKING;

    /// When the synth starts and in the first tick of each of the server's blocks, for all channels in their order.
    /// `mapped`: of the control, as in Voice; `value`: its value, or that of the control bus.
    void find(const Space&, const Ticks&, int channel, int32_t mapped, float value) noexcept SCS_NONBLOCKING;
    // As BusReader's.
    float first(const Space&, const Ticks&, int channel) const noexcept SCS_NONBLOCKING;
    void take(const Space&, const Ticks&, int channel, float* to) noexcept SCS_NONBLOCKING;

private:
    struct Channel {
        bool found = false, hears = false; ///< hears: it is mapped to an audio bus
        float value = 0, slope = 0;        ///< at the beginning of the block, and how it changes with each sample
        float next = 0;                    ///< at the end of the block
    };
    Channel* list() noexcept { return reinterpret_cast<Channel*>(this + 1); }
    const Channel* list() const noexcept { return reinterpret_cast<const Channel*>(this + 1); }

    BusReader* buses_ = nullptr;
    int32_t followed_ = -1; ///< the first channel's audio bus in the block before
};

/// For units that write audio buses. [rt]
class alignas(8) BusWriter {
public:
    /// `late`: frames by which all is to be delayed.
    static size_t bytes(const Ticks&, int channels, int late) noexcept SCS_NONBLOCKING;
    /// In memory of that size, aligned to 8 bytes.
    static BusWriter* make(void* memory, const Ticks&, int channels, int late) noexcept SCS_NONBLOCKING;

    /// In the first tick of each of the server's blocks: which buses the channels go to, from the one of this number
    /// on.
    void find(const Space&, float number) noexcept SCS_NONBLOCKING;
    // To be called once for each channel in each tick, with its samples.
    void add(Space&, const Ticks&, int channel, const float* samples) noexcept SCS_NONBLOCKING;
    void replace(Space&, const Ticks&, int channel, const float* samples) noexcept SCS_NONBLOCKING;
    /// Fades from what is on the bus to the samples, from one level, 0 to 1, to another.
    void fade(Space&, const Ticks&, int channel, const float* samples, float from, float to) noexcept SCS_NONBLOCKING;
    /// A tick's samples that are all this value; until the next call of any function.
    const float* held(const Ticks&, float value) noexcept SCS_NONBLOCKING;
    /// Writes what is still on its way to the buses, in queues and in filters, a block of the server at most. Nothing
    /// if this was done since the last find().
    void write_tail(Space&, const Ticks&) noexcept SCS_NONBLOCKING;
    /// The same tick by tick, between those who write in these ticks: to be called once in each of a block of the
    /// server's.
    void write_tail_in_ticks(Space&, const Ticks&) noexcept SCS_NONBLOCKING;

private:
    struct Channel {
        int32_t bus = -1;   ///< -1: none
        bool fresh = false; ///< nothing has written it in this block before this unit
        HalfBand filter{};
        float* queue = nullptr; ///< frames of the server's that are to be written
        int queued = 0;
        int gone = 0;    ///< of the queue's beginning: they have been taken
        int dropped = 0; ///< frames to leave out: those before the synth's first one
        int tail = 0;    ///< frames of it that are still to be written in ticks
    };
    Channel* list() noexcept { return reinterpret_cast<Channel*>(this + 1); }
    static int room(const Ticks&, int late) noexcept SCS_NONBLOCKING;
    bool is_direct(const Ticks& ticks) const noexcept { return ticks.rate.factor == 1 && room_ == 0; }
    void enqueue(const Ticks&, Channel&, const float* samples) noexcept SCS_NONBLOCKING;
    const float* dequeue(Channel&, int count) noexcept SCS_NONBLOCKING;
    /// Takes a channel's samples. Returns the frames that are to be written in the tick's place; null: none.
    const float* pass(const Ticks&, Channel&, const float* samples) noexcept SCS_NONBLOCKING;
    static int tail_of(const Ticks&, const Channel&) noexcept SCS_NONBLOCKING;

    float* scratch_ = nullptr; ///< a tick's samples
    int channels_ = 0, room_ = 0;
    bool found_ = false; ///< since the tail was written
};

} // namespace scs
