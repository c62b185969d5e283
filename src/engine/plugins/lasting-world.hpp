// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/plugins/abi-owners.hpp"

#include <array>
#include <functional>
#include <memory>
#include <mutex>

namespace scs {

/// The plugin ABI's World. Threads of plugins keep its address and may use it at any time, so its memory is never given
/// back: one and a half kilobytes for each engine that there was.
struct LastingWorld {
    std::array<AbiWorld, plugin_api_count> worlds{}; ///< by PluginApi: they differ in their interface tables alone
    std::mutex owned;                                ///< held while another thread than the data loop uses the owner
    std::shared_ptr<std::mutex> non_rt_lock;         ///< what `mNRTLock` points to
    ::SndBuf no_buffers[2]{};                        ///< what is left of the buffers at the end
    ::SndBufUpdates no_updates[2]{};

    /// [worker] One that will last.
    static LastingWorld& make();
    /// [any] That of a world as plugins know it.
    static LastingWorld& of(::World* world) noexcept { return *reinterpret_cast<AbiWorld*>(world)->lasting; }

    AbiWorld& world(PluginApi api) noexcept { return worlds[size_t(api)]; }
    /// [any] Whether it is one of `worlds`, or a synth's, not another copy of one.
    bool has(const ::World* world) const noexcept {
        const auto* const each = reinterpret_cast<const AbiWorld*>(world);
        return each->of_synth ||
               (!std::less<>()(each, worlds.data()) && std::less<>()(each, worlds.data() + worlds.size()));
    }

    /// [any] Afterwards it has no owner, doesn't run, and has no buffers.
    void end() noexcept;
};

} // namespace scs
