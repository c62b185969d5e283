// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/nonblocking.hpp"

#include <samplerate.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace scs {

/// Runs an engine that has blocks of a fixed size and its own rate in cycles of any number of frames at another rate.
/// Output is resampled to the cycles' rate, input to the engine's.
///
/// Blocks are run ahead, but no more than a cycle's output needs, so output is never late. Half the filter's length
/// adds to the latency from input to output; it doesn't shift an engine's frame from the moment at which it is to be
/// heard. Input is delayed by delay() frames of the cycles. That is the same for cycles of any length and never changes
/// between two resets.
class RateAdapter {
public:
    static constexpr int furthest = 32; ///< the largest ratio of the two rates

    static constexpr int most_ports = 128; ///< of a direction; libsamplerate takes no more channels

    /// `block` ≥ 1 frames; `inputs` and `outputs` 0 … most_ports; `max_quantum`: frames of the longest cycle;
    /// `engine_rate` in Hz, 0: set_engine_rate() gives it. Allocates all that process() needs; throws std::bad_alloc.
    /// [main]
    RateAdapter(int block, int inputs, int outputs, int max_quantum, int engine_rate);

    int engine_rate() const noexcept { return engine_rate_; }
    /// Hz, at least 1. set_graph_rate() must follow. [rt]
    void set_engine_rate(int rate) noexcept SCS_NONBLOCKING;
    int block() const noexcept { return int(block_); }
    /// Sets the rate of the cycles, Hz. A new rate is a reset. false: it isn't a whole number, or too far from the
    /// engine's; nothing is changed. [rt]
    bool set_graph_rate(double rate) noexcept SCS_NONBLOCKING;
    /// Drops all carried frames. Takes some 10 µs for each port. [rt]
    void reset() noexcept SCS_NONBLOCKING;
    /// The delay from input to output, in frames of the cycles. [rt]
    int delay() const noexcept { return delay_; }
    /// When the next block's first frame is heard, in frames of the cycles' rate after the next cycle's first. [rt]
    double ahead() const noexcept SCS_NONBLOCKING;

    /// Runs one cycle of `frames` (0 … max_quantum), after set_graph_rate(). `in` and `out` hold a pointer per port
    /// to `frames` frames, or null for a port that isn't linked.
    ///
    /// Calls `render(double ahead, const float* const* in, float* const* out)` for each block. `ahead`: when the
    /// block's first frame is heard, in frames of the cycles' rate after this cycle's first. The pointers are to
    /// `block` frames each; an output is null when it isn't linked. [rt]
    template <class F>
    void process(int frames, const float* const* in, float* const* out, F&& render) noexcept {
        take_input(frames, in);
        int written = 0;
        // A resampler that asks for more blocks than that is broken: the result is silence, not an endless loop.
        for (int64_t blocks = most_blocks(frames); written < frames; --blocks) {
            written += write_output(frames, written, out);
            if (written == frames || blocks < 0)
                break;
            read_block_input();
            point_outputs(out);
            render(ahead(), block_in_.data(), block_out_.data());
            keep_block_output();
        }
        fill_rest(frames, written, out);
        graph_frames_ += frames;
    }

private:
    struct Delete {
        void operator()(SRC_STATE* state) const noexcept { src_delete(state); }
    };
    using Resampler = std::unique_ptr<SRC_STATE, Delete>;

    static Resampler make_resampler(int channels);
    int reach(double ratio) const noexcept;
    int64_t most_blocks(int frames) const noexcept;
    void take_input(int frames, const float* const* in) noexcept;
    void read_block_input() noexcept;
    void point_outputs(float* const* out) noexcept;
    void keep_block_output() noexcept;
    int write_output(int frames, int written, float* const* out) noexcept;
    void fill_rest(int frames, int written, float* const* out) noexcept;

    size_t block_, inputs_, outputs_;
    int engine_rate_;
    int graph_rate_ = 0;
    int64_t engine_step_ = 1, graph_step_ = 1; ///< engine_step_ engine frames last as long as graph_step_ cycle frames
    int delay_ = 0;
    int filter_frames_ = 0; ///< input frames that the filter needs for its first frame, if it doesn't lower the rate
    Resampler to_engine_;   ///< null without inputs
    Resampler to_graph_;    ///< with one silent channel if there are no outputs
    size_t channels_out_;
    int64_t engine_frames_ = 0, graph_frames_ = 0; ///< rendered and written since the last reset

    // Interleaved frames, for the resamplers.
    std::vector<float> waiting_;                 ///< input at the cycles' rate
    size_t waiting_start_ = 0, waiting_end_ = 0; ///< frames
    std::vector<float> turns_in_;                ///< a block of input
    std::vector<float> turns_out_;               ///< a block of output …
    size_t turns_left_ = 0;                      ///< … of which this many frames, the last ones, still wait
    std::vector<float> resampled_;               ///< output at the cycles' rate
    // Separate channels, for the engine.
    std::vector<float> ports_;
    std::vector<const float*> block_in_;
    std::vector<float*> block_out_;
};

} // namespace scs
