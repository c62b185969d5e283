// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/nonblocking.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace scs {

/// Turns cycles, whose number of frames may change from one to the next, into blocks of a fixed size.
///
/// Output is computed ahead and never late: what a cycle doesn't use of its last block is carried over to the next
/// cycles, without a gap when the quantum changes. Input is delayed so that each block always has all its input. If r
/// frames were produced ahead when a quantum is first seen, and g = gcd(block, quantum), the least delay for that
/// quantum is block - g + r % g frames: 0 if the quantum is a multiple of the block and nothing is carried. When a
/// change of quantum makes the delay longer, silence is inserted before the waiting input; when shorter, the oldest
/// waiting input is dropped.
///
/// Frames are copied only where a block straddles cycles; otherwise, and always when delay and
/// carry are 0, blocks are read and written in the caller's own buffers.
class Reblocker {
public:
    /// `block` ≥ 1 frames; numbers of ports ≥ 0; `max_quantum`: the size in frames of the caller's
    /// buffers. Allocates all that process() needs. [main]
    Reblocker(int block, int inputs, int outputs, int max_quantum);
    Reblocker(Reblocker&&) = default;

    /// Runs one cycle of `quantum` frames (one longer than max_quantum is cut to it, one without
    /// frames does nothing). `in` and `out` hold a pointer per port to `quantum` frames, or null
    /// for a port that isn't linked; no output may overlap an input.
    ///
    /// Calls `render(int frame, const float* const* in, float* const* out)` for each block that begins in this cycle,
    /// in order. `frame` (≥ 0) is where in the cycle its first output frame lies. The pointers are to `block` frames
    /// each, with no more than a float's alignment. An input is null if it isn't linked, an output if nothing is to be
    /// written there. All of an output must be written. [rt]
    template <class F>
    void process(int quantum, const float* const* in, float* const* out, F&& render) noexcept {
        quantum = std::min(quantum, max_quantum_);
        if (quantum <= 0) {
            return;
        }
        set_quantum(quantum);
        write_carried(quantum, out);
        int frame = ahead_;
        for (; frame < quantum; frame += block_) {
            point_inputs(frame - delay_, in);
            point_outputs(frame, quantum, out);
            render(frame, in_.data(), out_.data());
        }
        keep_input(quantum, frame, in);
        keep_output(quantum, frame, out);
        ahead_ = frame - quantum;
    }

    /// The present delay of the input, frames. [rt]
    int input_delay() const noexcept { return delay_; }

    /// Drops all carried frames; the delay is 0 again. [rt]
    void reset() noexcept SCS_NONBLOCKING;

private:
    void set_quantum(int quantum) noexcept SCS_NONBLOCKING;
    void write_carried(int quantum, float* const* out) noexcept SCS_NONBLOCKING;
    void point_inputs(int start, const float* const* in) noexcept SCS_NONBLOCKING;
    void point_outputs(int frame, int quantum, float* const* out) noexcept SCS_NONBLOCKING;
    void keep_input(int quantum, int end, const float* const* in) noexcept SCS_NONBLOCKING;
    void keep_output(int quantum, int end, float* const* out) noexcept SCS_NONBLOCKING;

    // A block of frames for each port. An input's has, at its front, the frames that no block has used yet. An output's
    // has, at its back, those that were produced ahead.
    struct Port {
        float* frames;
        bool silent = true; // nothing has been written: counts as zeros
    };

    int block_;
    int max_quantum_;
    int quantum_ = 0; // of the last cycle
    int ahead_ = 0;   // output frames produced ahead of the cycle's start, < block
    int delay_ = 0;
    std::vector<float> frames_;
    std::vector<Port> inputs_;
    std::vector<Port> outputs_;
    std::vector<const float*> in_;
    std::vector<float*> out_;
};

} // namespace scs
