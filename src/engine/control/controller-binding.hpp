// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/control/binding.hpp"
#include "engine/control/fine-controller.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace scs {

/// What a controller sets.
struct ControllerSettings {
    Source source;
    ControlEvent::Kind kind = ControlEvent::Kind::controller; ///< or pressure, bend, program, axis, button
    int number = -1;                                          ///< of the controller, axis or button; -1: any
    std::optional<FineController> fine;                       ///< in place of these
    int bus = -1;                                             ///< a control bus; -1: a control of a node
    int32_t node = 0;                                         ///< a synth
    std::string control;                                      ///< of it, by name …
    int index = 0;                                            ///< … or, if that is empty, by index
    float low = 0, high = 1;                                  ///< what the ends of its range become
    bool exponential = false;                                 ///< both ends must have the same sign, and not be 0
};

/// Sets a control bus, or a control of a synth, to the value of a controller in a range of its own. [rt], after
/// construction.
class ControllerBinding final : public Binding {
public:
    /// [worker]
    ControllerBinding(int32_t id, ControllerSettings settings)
        : Binding(id, settings.source), s_(std::move(settings)), fine_(s_.fine) {}

    void handle(const ControlEvent&, BindingTargets&) noexcept override;
    void end(BindingTargets&) noexcept override {}
    int64_t cost() const noexcept override { return 100; }

private:
    std::optional<float> take(const ControlEvent&) noexcept;

    const ControllerSettings s_;
    std::optional<FineController> fine_;
};

} // namespace scs
