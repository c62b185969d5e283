// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/control/binding.hpp"

namespace scs {

/// Tells clients of events, as /midi.
class MessageBinding final : public Binding {
public:
    using Binding::Binding;

    void handle(const ControlEvent&, BindingTargets&) noexcept override;
    void end(BindingTargets&) noexcept override {}
    int64_t cost() const noexcept override { return 100; }
};

} // namespace scs
