// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/nonblocking.hpp"
#include "engine/control/control-event.hpp"

#include <array>
#include <cstdint>
#include <optional>

namespace scs {

/// A controller of 14 bits, which comes as two of 7: the high one, which sets the low one to 0, and then the low one.
/// Or a parameter (RPN, NRPN), whose number comes before as two more, or in one message of MIDI 2.0 with its
/// value. After the MIDI 1.0 specification and M2-104-UM. [rt]
class FineController {
public:
    enum class Kind : uint8_t { pair, rpn, nrpn };

    /// `number`: of the high one, 0 … 31, or of a parameter, 0 … 16383.
    FineController(Kind kind, int number) noexcept : kind_(kind), number_(number) {}

    /// Its value, 0 … 1, if the event says something of it.
    std::optional<float> take(const ControlEvent&) noexcept SCS_NONBLOCKING;

private:
    struct Channel {
        int number = none; ///< of the parameter that data is for
        int value = 0;
    };
    static constexpr int none = 0x3fff; ///< also by the specification: data is for no parameter

    /// As which it comes in MIDI 2.0. Pairs don't.
    ControlEvent::Kind own_kind() const noexcept {
        using Event = ControlEvent::Kind;
        return kind_ == Kind::rpn ? Event::parameter : kind_ == Kind::nrpn ? Event::own_parameter : Event::packet;
    }
    void select(Channel&, int controller, int value) const noexcept;
    std::optional<float> set(Channel&, bool high, int value) const noexcept;

    Kind kind_;
    int number_;
    std::array<Channel, 16> channels_{};
};

} // namespace scs
