// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/messages/command.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace scs::osc {

/// Which jobs may be done beside plugins' commands that aren't finished, and which have to wait:
///
/// - A job on a buffer waits for the plugins' commands before it that name its buffer, or may touch any.
/// - A barrier (/sync) waits for all that came before it.
/// - A plugin's command waits for those jobs before it that wait, if they are plugins' commands, too, or on a buffer
/// that
///   it may touch.
///
/// Everything else goes on. Whatever waits is looked at in the order in which it came; begin() starts that anew.
/// [worker]
class JobOrder {
public:
    /// Room for the numbers of `buffers` buffers.
    explicit JobOrder(int buffers) : waits_(size_t(buffers)) {}

    /// A plugin's command is under way now, until it is finished. Its first job, in the order in which they came.
    void open(Command&) noexcept;
    void finish(Command&) noexcept;
    static bool is_open(const Command& command) noexcept { return command.job_order != 0; }

    /// What waits is about to be looked at, from the first on.
    void begin() noexcept;
    /// Whether this job, which comes after all that were looked at since begin(), has to wait. If so, it holds up
    /// others.
    bool must_wait(Command&) noexcept;

private:
    bool conflicts_with_open(Command&) const noexcept;
    bool conflicts_with_waiting(const Command&) const noexcept;
    void note_waiting(const Command&) noexcept;

    Command* first_open_ = nullptr;
    Command* last_open_ = nullptr;
    uint64_t opened_ = 0;
    // What those name that wait.
    std::vector<bool> waits_; ///< by buffer
    bool any_waits_ = false, buffer_waits_ = false, any_buffer_waits_ = false, plugin_waits_ = false;
};

} // namespace scs::osc
