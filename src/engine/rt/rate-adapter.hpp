// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <samplerate.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace scs {

/// Runs an engine in blocks of a fixed size and at a rate of its own, in cycles of any number of frames at another
/// rate: what it puts out is resampled to the cycles' rate, what comes in to the engine's.
///
/// Blocks are run ahead, no more of them than a cycle's output needs, so output is never late: the filter's half
/// length is heard as a longer time from input to output, not as a shift between an engine's frame and its moment.
/// Input is delayed by a number of the cycles' frames that is the same for cycles of any length and never changes
/// between two resets: delay().
class RateAdapter {
public:
    static constexpr int furthest = 32; ///< times that one rate may be the other

    /// `block` ≥ 1 frames; `inputs` and `outputs` 0 … 128; `max_quantum`: frames of the longest cycle;
    /// `engine_rate` in Hz. Allocates all that process() needs; throws std::bad_alloc. [main]
    RateAdapter(int block, int inputs, int outputs, int max_quantum, int engine_rate);

    int engine_rate() const noexcept { return engine_rate_; }
    int block() const noexcept { return int(block_); }
    /// The rate of the cycles from now on, in Hz; another one than before is a reset. false: not a whole number, or
    /// too far from the engine's, and nothing is changed. [rt]
    bool set_graph_rate(double rate) noexcept;
    /// As new: nothing carried. Takes some 10 µs for each port. [rt]
    void reset() noexcept;
    /// Frames of the cycles from an input's to the output's that it is heard in. [rt]
    int delay() const noexcept { return delay_; }
    /// When the next block's first frame is heard, in frames of the cycles' rate after the next cycle's first. [rt]
    double ahead() const noexcept;

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
        // One block more than needed would mean that the resampler is out of order: silence then, not a loop.
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
    int64_t engine_step_ = 1, graph_step_ = 1; ///< so many engine frames last as long as so many of the cycles
    int delay_ = 0;
    int filter_frames_ = 0; ///< of input that the filter needs for its first frame, when it doesn't lower the rate
    Resampler to_engine_;   ///< null without inputs
    Resampler to_graph_;    ///< with one silent channel if there are no outputs
    size_t channels_out_;
    int64_t engine_frames_ = 0, graph_frames_ = 0; ///< rendered, and written, since the last reset

    // Frames of all channels in turn, as the resamplers want them.
    std::vector<float> waiting_;                 ///< input at the cycles' rate
    size_t waiting_start_ = 0, waiting_end_ = 0; ///< frames
    std::vector<float> turns_in_;                ///< a block of input
    std::vector<float> turns_out_;               ///< a block of output …
    size_t turns_left_ = 0;                      ///< … the last so many frames of which wait
    std::vector<float> resampled_;               ///< output at the cycles' rate
    // Ports of their own, as the engine wants them.
    std::vector<float> ports_;
    std::vector<const float*> block_in_;
    std::vector<float*> block_out_;
};

} // namespace scs
