// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/abi/abi.hpp"
#include "engine/messages/events.hpp"

#include <cstddef>
#include <span>

namespace scs {

class PluginWorld;

/// What a plugin's asynchronous command does, stage after stage; each stage may be null.
struct AsyncStages {
    AsyncStageFn on_worker;  ///< false: only the cleanup follows
    AsyncStageFn on_rt;      ///< likewise; true: then the completion message runs
    AsyncStageFn at_the_end; ///< on the worker; true: answered by /done
    AsyncFreeFn cleanup;     ///< on the data loop
};

/// [rt] Begins it. `completion`: an OSC packet, may be empty. false: out of real-time memory, nothing was called.
bool start_async_command(PluginWorld&, const ReplyTo*, const char* name, void* data, const AsyncStages&,
                         std::span<const std::byte> completion) noexcept;

} // namespace scs
