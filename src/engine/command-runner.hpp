// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/nonblocking.hpp"
#include "engine/error-mode.hpp"
#include "engine/messages/command.hpp"
#include "engine/messages/scheduler.hpp"
#include "engine/rt/ntp-time.hpp"

#include <functional>
#include <string>

namespace scs {

class Deadline;
class Definitions;
class Engine;
class Inbox;
class Outbox;
class PluginWorld;
class Tree;
struct EngineStatus;
struct Settings;

/// Carries out commands: runs those of a bundle when its time has come, installs the results of jobs, and hands back
/// what is done with. Where it stops is up to the Deadline. [rt], unless a function says otherwise.
class CommandRunner {
public:
    /// [worker] The engine is for the commands, which may call it; nothing here does.
    CommandRunner(Engine&, const Settings&, Inbox&, Outbox&, Deadline&, Tree&, PluginWorld&, Definitions&,
                  EngineStatus&);

    // These three may stop in the midst of a bundle. They return false then: no block may be computed, and no other
    // bundle be run, before go_on() has returned true.

    /// Takes what has come to the inbox until the deadline, results of jobs first. Bundles for later are scheduled.
    /// `now`: the time of the cycle's first frame; 0 before the first cycle.
    bool take_in(NtpTime now) noexcept SCS_NONBLOCKING;
    /// Goes on with the bundle in whose midst the last call stopped, if any.
    bool go_on() noexcept SCS_NONBLOCKING;
    /// Runs the scheduled bundles of the block that begins at `start`. `rate`: Hz.
    bool run_due(NtpTime start, double rate) noexcept SCS_NONBLOCKING;

    /// Whether there is a bundle to be run in the block that begins at `start`. `rate`: Hz.
    bool is_due(NtpTime start, double rate) const noexcept SCS_NONBLOCKING;
    /// Whether bundles wait for their time.
    bool has_scheduled() const noexcept { return !scheduler_.empty(); }
    /// Drops every scheduled bundle that hasn't begun to run. false: there was no time for all of them; call it again.
    bool clear_schedule() noexcept SCS_NONBLOCKING;
    /// Removes all definitions; result as above.
    bool free_definitions() noexcept SCS_NONBLOCKING;
    ErrorMode& error_mode() noexcept { return error_mode_; }

    /// [any] Deletes what is under way: in the queues, half done, or handed back and not yet read. No thread may be in
    /// the engine any more, and nothing else may be called after it. What is scheduled is deleted with this object.
    /// `tell`, which may be empty, gets what has gone wrong and wasn't read.
    void delete_unfinished(const std::function<void(const std::string&)>& tell);

private:
    /// The commands that are being carried out. They may have to wait for the next cycle at any moment; nothing else
    /// happens before they are done.
    struct Performance {
        CommandBundle* bundle = nullptr; ///< what to settle at the end; null: nothing is being carried out
        Command* next = nullptr;         ///< of the bundle, or of a completion message
        Command* finished = nullptr;     ///< the job whose completion message it is; null: a bundle
        bool replies = false;            ///< the job answers
    };

    bool accept(CommandBundle*, NtpTime now) noexcept;
    bool perform(CommandBundle*) noexcept;
    bool start(Command*) noexcept SCS_NONBLOCKING;
    bool finish(Command*) noexcept;
    bool finish_own(Command*, CommandBundle* completion) noexcept;
    void settle(CommandBundle* root) noexcept;

    Engine& engine_;
    const int block_size_;
    const bool real_time_; ///< false: jobs are done in place
    Inbox& inbox_;
    Outbox& outbox_;
    Deadline& deadline_;
    Tree& tree_;
    PluginWorld& world_;
    Definitions& definitions_;
    EngineStatus& status_;
    Scheduler scheduler_;
    Performance performance_;
    ErrorMode error_mode_;
};

} // namespace scs
