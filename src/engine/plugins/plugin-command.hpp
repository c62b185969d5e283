// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/abi/plugin-api.hpp"
#include "engine/messages/reply-to.hpp"

#include <cstddef>
#include <span>

namespace scs {

class PluginWorld;

/// A stage of a plugin's asynchronous command: a function of one of three types, or none.
class AsyncStage {
public:
    AsyncStage(AsyncStageFn plain) noexcept : plain_(plain) {}
    AsyncStage(FunctionsOf315::AddressedStage addressed) noexcept : addressed_(addressed) {}
    AsyncStage(FunctionsOf315::UnitStage of_unit) noexcept : of_unit_(of_unit) {}
    explicit operator bool() const noexcept { return plain_ || addressed_ || of_unit_; }
    /// `unit`: for a command of a unit; null: it has left.
    bool operator()(::World* world, ::Unit* unit, void* data, void* reply_address) const {
        return plain_       ? plain_(world, data)
               : addressed_ ? addressed_(world, data, reply_address)
                            : of_unit_(unit, data, reply_address);
    }

private:
    AsyncStageFn plain_ = nullptr;
    FunctionsOf315::AddressedStage addressed_ = nullptr;
    FunctionsOf315::UnitStage of_unit_ = nullptr;
};

/// The stages of a plugin's asynchronous command, in order.
struct AsyncStages {
    PluginApi api;
    AsyncStage on_worker;  ///< the second; returns false: only the cleanup follows
    AsyncStage on_rt;      ///< the third; the same; returns true: the completion message runs next
    AsyncStage at_the_end; ///< the fourth, on the worker; returns true: /done is sent
    AsyncFreeFn cleanup;   ///< on the data loop; may be null
    /// The unit whose command it is, or null. If its synth is freed before the third stage, that gets null, and neither
    /// the completion message nor /done follow.
    ::Unit* unit = nullptr;
};

/// [rt] Starts the command. `completion`: an OSC packet, may be empty. false: out of real-time memory, or the unit's
/// synth is being freed; no stage was called. A stage that crashes is told to the client and the log.
bool start_async_command(PluginWorld&, const ReplyTo&, const char* name, void* data, const AsyncStages&,
                         std::span<const std::byte> completion) noexcept;

} // namespace scs
