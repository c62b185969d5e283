// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/world/output-ports.hpp"

#include "engine/world/buses.hpp"

#include <algorithm>
#include <bit>

namespace scs {
namespace {

// By the bits, as this is one of the few loops over all samples and the comparison of floats would not be vectorized.
bool all_finite(const float* samples, int frames) noexcept {
    constexpr uint32_t exponent = 0x7f800000;
    uint32_t bad = 0;
    for (int i = 0; i < frames; ++i)
        bad |= uint32_t((std::bit_cast<uint32_t>(samples[i]) & exponent) == exponent);
    return !bad;
}

} // namespace

OutputPorts::OutputPorts(const Settings& settings)
    : frames_(settings.block_size),
      limit_(float(settings.output_limit)),
      checks_(settings.real_time),
      ports_(size_t(settings.outputs)) {}

void OutputPorts::fade_out(Port& port, float* out) noexcept {
    for (int i = 0; i < frames_; ++i)
        out[i] = port.last * (float(frames_ - 1 - i) / float(frames_));
    port.last = 0;
    port.missing = true;
}

void OutputPorts::write_missing(float* const* out) noexcept {
    for (size_t i = 0; i < ports_.size(); ++i)
        if (out[i])
            fade_out(ports_[i], out[i]);
        else
            ports_[i] = {};
}

bool OutputPorts::write(const Buses& buses, int32_t block, float* const* out) noexcept {
    bool well = true;
    for (size_t i = 0; i < ports_.size(); ++i) {
        Port& port = ports_[i];
        if (!out[i]) {
            port = {};
            continue;
        }
        if (buses.audio_touched()[i] != block) {
            std::fill_n(out[i], frames_, 0.f);
            port = {};
            continue;
        }
        const float* samples = buses.audio(int(i));
        if (checks_ && !all_finite(samples, frames_)) {
            well = false;
            fade_out(port, out[i]);
            continue;
        }
        std::copy_n(samples, frames_, out[i]);
        if (limit_ > 0)
            for (int f = 0; f < frames_; ++f)
                out[i][f] = std::clamp(out[i][f], -limit_, limit_);
        if (port.missing)
            for (int f = 0; f < frames_; ++f)
                out[i][f] *= float(f + 1) / float(frames_);
        port.missing = false;
        port.last = out[i][frames_ - 1];
    }
    return well;
}

bool OutputPorts::any_bad(const Buses& buses, int32_t block) const noexcept {
    for (size_t i = 0; i < ports_.size(); ++i)
        if (buses.audio_touched()[i] == block && !all_finite(buses.audio(int(i)), frames_))
            return true;
    return false;
}

} // namespace scs
