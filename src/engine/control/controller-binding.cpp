// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/control/controller-binding.hpp"

#include "engine/tree/controls.hpp"
#include "engine/tree/tree.hpp"
#include "engine/world/buses.hpp"

#include <cmath>

namespace scs {
namespace {

using Kind = ControlEvent::Kind;

/// 0 … 1.
float position(const ControlEvent& event) noexcept {
    switch (event.kind) {
    case Kind::bend: return (event.value + 1) / 2;
    case Kind::program: return float(event.number) / 127.f;
    default: return event.value;
    }
}

} // namespace

/// Where in its range the controller is, if the event says that.
std::optional<float> ControllerBinding::take(const ControlEvent& event) noexcept {
    if (fine_)
        return fine_->take(event);
    if (event.kind != s_.kind || (s_.number >= 0 && event.number != s_.number))
        return {};
    return position(event);
}

void ControllerBinding::handle(const ControlEvent& event, BindingTargets& targets) noexcept {
    const std::optional<float> at = take(event);
    if (!at)
        return;
    const float value = s_.exponential ? float(s_.low * std::pow(double(s_.high) / s_.low, double(*at)))
                                       : s_.low + (s_.high - s_.low) * *at;
    if (s_.bus >= 0) {
        (void)targets.buses.set_control(s_.bus, value, targets.block);
        return;
    }
    Synth* const synth = targets.tree.find_synth(s_.node);
    if (!synth)
        return;
    const ControlRange to = s_.control.empty() ? ControlRange{s_.index, 1} : controls_named(*synth, s_.control);
    if (to.count > 0)
        targets.tree.controls().set(*synth, to.first, value);
}

} // namespace scs
