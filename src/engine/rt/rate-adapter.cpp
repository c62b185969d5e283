// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/rt/rate-adapter.hpp"
#include "engine/base/nonblocking.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <new>
#include <numeric>

namespace scs {

namespace {

// 121 dB signal to noise, and flat up to 0.9 of half the lower rate. The next better quality costs four times as much;
// the next lower one ends at 17.6 kHz for 44100 Hz.
constexpr int quality = SRC_SINC_MEDIUM_QUALITY;
constexpr size_t chunk = 256; ///< frames that are written at once

/// How many more frames the resampler may ask for because of rounding.
constexpr int rounding = 2;

/// The address of the frames from `first` to `end`. If there are none, the start of `frames`: the resampler refuses
/// even empty input that begins where its output does, which may be at the end of `frames`.
const float* place(const std::vector<float>& frames, size_t first, size_t end, size_t channels) noexcept {
    return frames.data() + (first < end ? first * channels : 0);
}

} // namespace

RateAdapter::Resampler RateAdapter::make_resampler(int channels) {
    int error = 0;
    Resampler made(src_new(quality, channels, &error));
    if (!made)
        throw std::bad_alloc();
    return made;
}

RateAdapter::RateAdapter(int block, int inputs, int outputs, int max_quantum, int engine_rate)
    : block_(size_t(block)),
      inputs_(size_t(inputs)),
      outputs_(size_t(outputs)),
      engine_rate_(engine_rate),
      to_engine_(inputs > 0 ? make_resampler(inputs) : nullptr),
      to_graph_(make_resampler(std::max(outputs, 1))),
      channels_out_(std::max(outputs_, size_t(1))) {
    // The library has no function for its filter's length, so it is measured.
    const Resampler probe = make_resampler(1);
    float frame = 0, result = 0;
    SRC_DATA data{};
    while (data.output_frames_gen == 0) {
        data = {};
        data.data_in = &frame;
        data.data_out = &result;
        data.input_frames = data.output_frames = 1;
        data.src_ratio = 1;
        if (src_process(probe.get(), &data) != 0)
            throw std::bad_alloc();
        ++filter_frames_;
    }

    const auto most_waiting =
        size_t(max_quantum) + size_t(reach(1. / furthest)) + size_t(reach(1) + block) * furthest + furthest;
    waiting_.resize(most_waiting * inputs_);
    turns_in_.resize(block_ * inputs_);
    turns_out_.resize(block_ * channels_out_);
    resampled_.resize(chunk * channels_out_);
    ports_.resize(block_ * (inputs_ + outputs_));
    block_out_.resize(outputs_);
    for (size_t i = 0; i < inputs_; ++i)
        block_in_.push_back(ports_.data() + i * block_);
}

/// How many input frames the filter needs after the position of an output frame.
int RateAdapter::reach(double ratio) const noexcept {
    return int(std::ceil(filter_frames_ / std::min(ratio, 1.))) + rounding;
}

void RateAdapter::set_engine_rate(int rate) noexcept {
    engine_rate_ = rate;
    graph_rate_ = 0;
}

bool RateAdapter::set_graph_rate(double rate) noexcept {
    if (rate == graph_rate_)
        return true;
    if (!(rate * furthest >= engine_rate_ && rate <= double(engine_rate_) * furthest) || rate != std::floor(rate))
        return false;
    graph_rate_ = int(rate);
    const int divisor = std::gcd(engine_rate_, graph_rate_);
    engine_step_ = engine_rate_ / divisor;
    graph_step_ = graph_rate_ / divisor;
    // In the worst case the cycle's last frame needs the first frame of a block, and so input for all of that block.
    const double frames_per_engine_frame = double(graph_rate_) / engine_rate_;
    const double run_ahead = reach(frames_per_engine_frame) + double(block_);
    delay_ = int(std::ceil(run_ahead * frames_per_engine_frame)) + reach(1 / frames_per_engine_frame);
    reset();
    return true;
}

void RateAdapter::reset() noexcept {
    SCS_UNPROVEN_BEGIN // libsamplerate clears memory that it has
    if (to_engine_)
        src_reset(to_engine_.get());
    src_reset(to_graph_.get());
    SCS_UNPROVEN_END
    engine_frames_ = graph_frames_ = 0;
    turns_left_ = 0;
    waiting_start_ = 0;
    waiting_end_ = size_t(delay_);
    std::fill_n(waiting_.begin(), waiting_end_ * inputs_, 0.f);
}

int64_t RateAdapter::most_blocks(int frames) const noexcept {
    const double ratio = double(graph_rate_) / engine_rate_;
    return int64_t((frames / ratio + reach(ratio)) / double(block_)) + 2;
}

double RateAdapter::ahead() const noexcept {
    // Integers up to here, so that it never drifts.
    return double(engine_frames_ * graph_step_ - graph_frames_ * engine_step_) / double(engine_step_);
}

void RateAdapter::take_input(int frames, const float* const* in) noexcept {
    if (inputs_ == 0)
        return;
    float* const kept = waiting_.data();
    std::copy(kept + waiting_start_ * inputs_, kept + waiting_end_ * inputs_, kept);
    waiting_end_ -= waiting_start_;
    waiting_start_ = 0;
    const size_t count = std::min(size_t(frames), waiting_.size() / inputs_ - waiting_end_);
    float* const to = kept + waiting_end_ * inputs_;
    for (size_t port = 0; port < inputs_; ++port)
        for (size_t i = 0; i < count; ++i)
            to[i * inputs_ + port] = in[port] ? in[port][i] : 0.f;
    waiting_end_ += count;
}

void RateAdapter::read_block_input() noexcept {
    if (inputs_ == 0)
        return;
    SRC_DATA data{};
    data.data_in = place(waiting_, waiting_start_, waiting_end_, inputs_);
    data.input_frames = long(waiting_end_ - waiting_start_);
    data.data_out = turns_in_.data();
    data.output_frames = long(block_);
    data.src_ratio = double(engine_rate_) / graph_rate_;
    src_process(to_engine_.get(), &data);
    waiting_start_ += size_t(data.input_frames_used);
    const auto made = size_t(data.output_frames_gen);
    for (size_t port = 0; port < inputs_; ++port) {
        float* const to = ports_.data() + port * block_;
        for (size_t i = 0; i < made; ++i)
            to[i] = turns_in_[i * inputs_ + port];
        std::fill(to + made, to + block_, 0.f);
    }
}

void RateAdapter::point_outputs(float* const* out) noexcept {
    for (size_t port = 0; port < outputs_; ++port)
        block_out_[port] = out[port] ? ports_.data() + (inputs_ + port) * block_ : nullptr;
}

void RateAdapter::keep_block_output() noexcept {
    for (size_t port = 0; port < outputs_; ++port)
        for (size_t i = 0; i < block_; ++i)
            turns_out_[i * channels_out_ + port] = block_out_[port] ? block_out_[port][i] : 0.f;
    turns_left_ = block_;
    engine_frames_ += int64_t(block_);
}

/// Writes as much output as is possible without another block. Returns the number of frames.
int RateAdapter::write_output(int frames, int written, float* const* out) noexcept {
    const int first = written;
    while (written < frames) {
        SRC_DATA data{};
        data.data_in = place(turns_out_, block_ - turns_left_, block_, channels_out_);
        data.input_frames = long(turns_left_);
        data.data_out = resampled_.data();
        data.output_frames = long(std::min(chunk, size_t(frames - written)));
        data.src_ratio = double(graph_rate_) / engine_rate_;
        if (src_process(to_graph_.get(), &data) != 0)
            break;
        turns_left_ -= size_t(data.input_frames_used);
        const auto made = size_t(data.output_frames_gen);
        if (made == 0)
            break;
        for (size_t port = 0; port < outputs_; ++port)
            if (out[port])
                for (size_t i = 0; i < made; ++i)
                    out[port][size_t(written) + i] = resampled_[i * channels_out_ + port];
        written += int(made);
    }
    return written - first;
}

void RateAdapter::fill_rest(int frames, int written, float* const* out) noexcept {
    for (size_t port = 0; port < outputs_; ++port)
        if (out[port])
            std::fill(out[port] + written, out[port] + frames, 0.f);
}

} // namespace scs
