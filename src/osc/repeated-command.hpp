// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/nonblocking.hpp"
#include "osc/osc-command.hpp"

#include <span>
#include <string>
#include <utility>

namespace scs::osc {

/// A command that is carried out again and again, with new arguments: what bindings do. Its row has to be `bindable`.
class RepeatedCommand final : public OscCommand {
public:
    /// [any but rt] `whose`: what a failure in the log begins with.
    RepeatedCommand(CommandInit&& init, std::string whose) : OscCommand(std::move(init)), whose_(std::move(whose)) {}

    /// [rt] The arguments must stay until go_on() is true.
    void begin(std::span<const Arg> args) noexcept {
        begin_again(args);
        running_ = true;
    }
    /// [rt] Carries it out, if it has begun. false: there was no time for all of it.
    bool go_on() noexcept SCS_NONBLOCKING;

private:
    void tell(Status, Engine&) noexcept;

    const std::string whose_;
    bool running_ = false;
    bool told_ = false;
};

} // namespace scs::osc
