// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/abi/abi.hpp"
#include "engine/messages/reply-to.hpp"

#include <cstddef>
#include <span>

namespace scs {

class PluginWorld;

/// The stages of a plugin's asynchronous command, in order; each may be null.
struct AsyncStages {
    AsyncStageFn on_worker;  ///< the second; returns false: only the cleanup follows
    AsyncStageFn on_rt;      ///< the third; the same; returns true: the completion message runs next
    AsyncStageFn at_the_end; ///< the fourth, on the worker; returns true: /done is sent
    AsyncFreeFn cleanup;     ///< on the data loop
};

/// [rt] Starts the command. `completion`: an OSC packet, may be empty. false: out of real-time memory; no stage was
/// called. A stage that crashes is told to the client and the log.
bool start_async_command(PluginWorld&, const ReplyTo&, const char* name, void* data, const AsyncStages&,
                         std::span<const std::byte> completion) noexcept;

} // namespace scs
