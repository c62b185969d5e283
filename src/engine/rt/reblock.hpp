// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace scs {

/// Turns cycles of any number of frames, which may differ from one to the next, into blocks of a
/// fixed size.
///
/// Output is computed ahead and never late: what a cycle leaves of its last block is carried to the
/// next cycles, without a gap when the quantum changes. Input is delayed so that each block always
/// has its input: with r frames produced ahead when a quantum is first seen and g = gcd(block,
/// quantum), the least delay with which that quantum can go on is block - g + r % g frames, so 0
/// when the quantum is a multiple of the block and nothing is carried. When a change of quantum
/// makes the delay longer, silence is put before the input that waits; when shorter, the oldest of
/// it is dropped.
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
    /// Calls `render(int frame, const float* const* in, float* const* out)` for each block that
    /// begins in this cycle, in order. `frame` (≥ 0) is where in the cycle its first output frame
    /// lies. Its pointers are to `block` frames each, aligned as floats only; an input is null when
    /// it isn't linked, an output when nothing shall be written there. All of an output must be
    /// written. [rt]
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

    /// Frames by which input is delayed at present. [rt]
    int input_delay() const noexcept { return delay_; }

    /// As new: no delay, nothing carried. [rt]
    void reset() noexcept;

private:
    void set_quantum(int quantum) noexcept;
    void write_carried(int quantum, float* const* out) noexcept;
    void point_inputs(int start, const float* const* in) noexcept;
    void point_outputs(int frame, int quantum, float* const* out) noexcept;
    void keep_input(int quantum, int end, const float* const* in) noexcept;
    void keep_output(int quantum, int end, float* const* out) noexcept;

    // Per port a block's worth of frames. An input's hold from the front on what no block has taken
    // yet; an output's hold at the back what is produced ahead.
    struct Port {
        float* frames;
        bool silent = true; // nothing real is held: read it as zeros
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
