// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace scs::osc {

/// The right to run plugins' jobs. Plugins expect one thread that does so, as scsynth has; a process with several
/// servers has several, which share the plugins' static memory. So they take turns. [any but rt]
class PluginTurn {
public:
    PluginTurn() noexcept = default;
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
    bool left_ = false;
};

} // namespace scs::osc
