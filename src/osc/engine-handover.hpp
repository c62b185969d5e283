// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/messages/command.hpp"

#include <atomic>
#include <memory>
#include <string>
#include <utility>

namespace scs::osc {

/// How the engine gets from the worker, which makes it, to the OSC thread. Whoever calls ready() or fail() rings the
/// OSC thread afterwards.
class EngineHandover {
public:
    /// [worker] An engine is there. `first`, which may be null, is to run before everything else.
    void ready(Engine& engine, std::unique_ptr<CommandBundle> first) noexcept {
        first_ = std::move(first);
        engine_.store(&engine, std::memory_order_release);
    }
    /// [worker] There will be no engine; why.
    void fail(std::string why) noexcept {
        failure_ = std::move(why);
        failed_.store(true, std::memory_order_release);
    }

    /// [osc] The engine, or null while there is none.
    Engine* engine() const noexcept { return engine_.load(std::memory_order_acquire); }
    /// [osc] What is to run before everything else, once; only if there is an engine.
    std::unique_ptr<CommandBundle> take_first() noexcept { return std::move(first_); }
    /// [osc] The engine broke: there is none until the worker has made another one.
    void withdraw() noexcept { engine_.store(nullptr, std::memory_order_release); }
    /// [osc] Why there will be no engine; null if there may be one.
    const std::string* failure() const noexcept {
        return failed_.load(std::memory_order_acquire) ? &failure_ : nullptr;
    }

private:
    std::atomic<Engine*> engine_{nullptr};
    std::unique_ptr<CommandBundle> first_;
    std::atomic<bool> failed_{false};
    std::string failure_;
};

} // namespace scs::osc
