// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <utility>

namespace scs::osc {

/// The right to run plugins' jobs. Plugins expect one thread that does so: scsynth has one in its process, so they may
/// have static memory without locks. A process with several servers has several threads, which share that memory. So
/// they take turns. [any but rt]
class PluginTurn {
public:
    using Tell = std::function<void(const std::string&)>;

    /// `owner`: what others are told that wait for this turn. `tell` gets a line when this one has waited for
    /// `patience`, whose job it waits for; may be empty.
    PluginTurn(std::string owner, Tell tell, std::chrono::milliseconds patience = std::chrono::seconds(10))
        : owner_(std::move(owner)), tell_(std::move(tell)), patience_(patience) {}
    ~PluginTurn() { leave(); }
    PluginTurn(const PluginTurn&) = delete;
    PluginTurn& operator=(const PluginTurn&) = delete;

    /// Waits until no other has the turn, and has it then. false: leave() was called.
    bool take() noexcept;
    /// Ends what take() began.
    void give() noexcept;
    /// Whoever has or waits for this turn doesn't any more, and never will again.
    void leave() noexcept;

private:
    void complain_about(const std::string& other) const noexcept;

    const std::string owner_;
    const Tell tell_;
    const std::chrono::milliseconds patience_;
    bool left_ = false;
};

} // namespace scs::osc
