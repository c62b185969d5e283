// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/control/fine-controller.hpp"

namespace scs {
namespace {

constexpr int data_high = 6, data_low = 38, low_of_pair = 32; // controllers
constexpr int nrpn_low = 98, nrpn_high = 99, rpn_low = 100, rpn_high = 101;

/// A number of 14 bits with one half of it replaced.
constexpr int with_half(int number, bool high, int half) noexcept {
    return high ? (number & 0x7f) | half << 7 : (number & 0x3f80) | half;
}

} // namespace

void FineController::select(Channel& channel, int controller, int value) const noexcept {
    if (controller < nrpn_low || controller > rpn_high)
        return;
    const bool high = controller == nrpn_high || controller == rpn_high;
    if ((controller >= rpn_low) == (kind_ == Kind::rpn))
        channel.number = with_half(channel.number, high, value);
    else
        channel.number = none;
}

std::optional<float> FineController::set(Channel& channel, bool high, int value) const noexcept {
    channel.value = high ? value << 7 : with_half(channel.value, false, value);
    return float(channel.value) / 16383.f;
}

std::optional<float> FineController::take(const ControlEvent& event) noexcept {
    if (event.kind == own_kind())
        return event.number == number_ ? std::optional(event.value) : std::nullopt;
    if (event.kind != ControlEvent::Kind::controller)
        return {};
    Channel& channel = channels_[event.channel & 15];
    const int controller = event.number, value = int(event.value * 127.f + 0.5f);
    if (kind_ == Kind::pair) {
        const bool high = controller == number_;
        return high || controller == number_ + low_of_pair ? set(channel, high, value) : std::nullopt;
    }
    select(channel, controller, value);
    const bool high = controller == data_high;
    const bool own = channel.number == number_ && number_ != none;
    return own && (high || controller == data_low) ? set(channel, high, value) : std::nullopt;
}

} // namespace scs
