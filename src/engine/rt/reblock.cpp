// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/rt/reblock.hpp"

#include <numeric>
#include <utility>

namespace scs {

Reblocker::Reblocker(int block, int inputs, int outputs, int max_quantum)
    : block_(block),
      max_quantum_(max_quantum),
      frames_(size_t(block) * size_t(inputs + outputs)),
      in_(size_t(inputs)),
      out_(size_t(outputs)) {
    float* frames = frames_.data();
    for (auto [ports, count] : {std::pair{&inputs_, inputs}, std::pair{&outputs_, outputs}}) {
        for (int i = 0; i < count; ++i, frames += block) {
            ports->push_back({frames});
        }
    }
}

void Reblocker::reset() noexcept {
    quantum_ = ahead_ = delay_ = 0;
    for (Port& port : inputs_) {
        port.silent = true;
    }
    for (Port& port : outputs_) {
        port.silent = true;
    }
}

void Reblocker::set_quantum(int quantum) noexcept {
    if (quantum == quantum_) {
        return;
    }
    quantum_ = quantum;
    // The number of frames ahead after each cycle goes through all numbers below the block that have the same remainder
    // modulo the divisor. The largest of them is how much input the cycle's last block lacks.
    const int divisor = std::gcd(block_, quantum);
    const int delay = block_ - divisor + ahead_ % divisor;
    const int held = delay_ - ahead_;
    const int longer = delay - delay_;
    delay_ = delay;
    if (longer == 0) {
        return;
    }
    for (Port& port : inputs_) {
        if (port.silent) {
            continue;
        }
        if (longer > 0) {
            std::copy_backward(port.frames, port.frames + held, port.frames + held + longer);
            std::fill_n(port.frames, longer, 0.0f);
        } else {
            std::copy(port.frames - longer, port.frames + held, port.frames);
        }
    }
}

void Reblocker::write_carried(int quantum, float* const* out) noexcept {
    const int count = std::min(ahead_, quantum);
    for (size_t i = 0; i < outputs_.size(); ++i) {
        if (out[i] == nullptr) {
            continue;
        }
        if (outputs_[i].silent) {
            std::fill_n(out[i], count, 0.0f);
        } else {
            std::copy_n(outputs_[i].frames + block_ - ahead_, count, out[i]);
        }
    }
}

// `start`: where in this cycle the block's input begins; negative if it begins with held input.
void Reblocker::point_inputs(int start, const float* const* in) noexcept {
    for (size_t i = 0; i < inputs_.size(); ++i) {
        if (start >= 0) {
            in_[i] = in[i] != nullptr ? in[i] + start : nullptr;
            continue;
        }
        Port& port = inputs_[i];
        if (port.silent && in[i] == nullptr) {
            in_[i] = nullptr;
            continue;
        }
        if (port.silent) {
            std::fill_n(port.frames, -start, 0.0f);
        }
        if (in[i] != nullptr) {
            std::copy_n(in[i], block_ + start, port.frames - start);
        } else {
            std::fill_n(port.frames - start, block_ + start, 0.0f);
        }
        in_[i] = port.frames;
    }
}

void Reblocker::point_outputs(int frame, int quantum, float* const* out) noexcept {
    const bool whole = block_ <= quantum - frame;
    for (size_t i = 0; i < outputs_.size(); ++i) {
        if (out[i] == nullptr) {
            out_[i] = nullptr;
        } else {
            out_[i] = whole ? out[i] + frame : outputs_[i].frames;
        }
    }
}

// `end`: where the last block's output ends, counted from the cycle's start.
void Reblocker::keep_input(int quantum, int end, const float* const* in) noexcept {
    const int start = end - delay_; // where the input begins that no block has used
    for (size_t i = 0; i < inputs_.size(); ++i) {
        Port& port = inputs_[i];
        if (start >= 0) { // all held input has been used
            port.silent = in[i] == nullptr;
            if (!port.silent) {
                std::copy(in[i] + start, in[i] + quantum, port.frames);
            }
            continue;
        }
        if (port.silent && in[i] == nullptr) {
            continue;
        }
        if (port.silent) {
            std::fill_n(port.frames, -start, 0.0f);
            port.silent = false;
        }
        if (in[i] != nullptr) {
            std::copy_n(in[i], quantum, port.frames - start);
        } else {
            std::fill_n(port.frames - start, quantum, 0.0f);
        }
    }
}

void Reblocker::keep_output(int quantum, int end, float* const* out) noexcept {
    if (end == ahead_ || end == quantum) {
        return; // no block began in this cycle, or none extends beyond it
    }
    const int frame = end - block_;
    for (size_t i = 0; i < outputs_.size(); ++i) {
        outputs_[i].silent = out[i] == nullptr;
        if (out[i] != nullptr) {
            std::copy_n(outputs_[i].frames, quantum - frame, out[i] + frame);
        }
    }
}

} // namespace scs
