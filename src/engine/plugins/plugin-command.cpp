// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/plugins/plugin-command.hpp"

#include "engine/guard/fault-guard.hpp"
#include "engine/messages/outbox.hpp"
#include "engine/plugins/commands.hpp"
#include "engine/plugins/osc-arguments.hpp"
#include "engine/plugins/plugin-world-abi.hpp"
#include "engine/plugins/plugin-world.hpp"
#include "engine/plugins/registry.hpp"
#include "engine/rt/pool.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

namespace scs {
namespace {

/// Goes to the worker and back twice, once for each of the worker's stages.
class AsyncCommand final : public Command {
public:
    AsyncCommand(PluginWorld& world, const ReplyTo* from, const char* name, void* data, const AsyncStages& stages,
                 std::span<const std::byte> completion) noexcept
        : world_(world), stages_(stages), data_(data), completion_bytes_(completion.size()), answers_(from && name) {
        if (answers_) {
            from_ = *from;
            name_bytes_ = std::min(std::strlen(name), sizeof name_);
            std::memcpy(name_, name, name_bytes_);
        }
        std::copy(completion.begin(), completion.end(), completion_begin());
    }

    Outcome run(Engine&) noexcept override { return Outcome::job; }
    void work() noexcept override { good_ = call(ending_ ? stages_.at_the_end : stages_.on_worker); }
    Outcome apply(Engine&) noexcept override {
        go_on();
        return Outcome::done;
    }
    void dispose() noexcept override {
        if (ending_ && !std::exchange(was_sent_again_, true)) {
            world_.outbox().hand_back(this, Kind::job);
            return;
        }
        if (stages_.cleanup)
            (void)FaultGuard::run([this] { stages_.cleanup(&world_.abi().world.abi, data_); });
        Pool& pool = world_.pool();
        this->~AsyncCommand();
        pool.free(this);
    }

    /// Offline: all stages at once.
    void run_through() noexcept {
        work();
        go_on();
        if (ending_) {
            was_sent_again_ = true;
            work();
            go_on();
        }
        dispose();
    }

private:
    /// Called after the first and after the last of the worker's stages.
    void go_on() noexcept {
        if (ending_) {
            if (good_ && answers_)
                tell(EventKind::command_done, std::as_bytes(std::span(name_, name_bytes_)));
            return;
        }
        ending_ = good_ = good_ && call(stages_.on_rt);
        if (good_ && completion_bytes_ > 0)
            tell(EventKind::completion, {completion_begin(), completion_bytes_});
    }
    bool call(AsyncStageFn stage) noexcept {
        bool good = true;
        if (stage && !FaultGuard::run([&] { good = stage(&world_.abi().world.abi, data_); }))
            good = false;
        return good;
    }
    void tell(EventKind kind, std::span<const std::byte> bytes) noexcept {
        const ReplyEvent event{{kind, uint32_t(sizeof(ReplyEvent) + bytes.size())}, from_};
        world_.outbox().notify(event, bytes);
    }
    std::byte* completion_begin() noexcept { return reinterpret_cast<std::byte*>(this + 1); }

    PluginWorld& world_;
    AsyncStages stages_;
    void* data_;
    ReplyTo from_{};
    size_t completion_bytes_;
    size_t name_bytes_ = 0;
    char name_[64];
    bool answers_;
    bool good_ = false;
    bool ending_ = false; ///< the first two stages have succeeded
    bool was_sent_again_ = false;
};

} // namespace

bool start_async_command(PluginWorld& world, const ReplyTo* from, const char* name, void* data,
                         const AsyncStages& stages, std::span<const std::byte> completion) noexcept {
    void* memory = world.pool().allocate(sizeof(AsyncCommand) + completion.size());
    if (!memory)
        return false;
    auto* command = new (memory) AsyncCommand(world, from, name, data, stages, completion);
    if (world.real_time())
        world.outbox().hand_back(command, Handback::Kind::job);
    else
        command->run_through();
    return true;
}

const PluginCommand* find_plugin_command(std::string_view name) {
    return PluginRegistry::instance().find_command(name);
}

bool run_plugin_command(PluginWorld& world, const PluginCommand& command, std::span<const std::byte> arguments,
                        ReplyTo from) noexcept {
    const PluginCommand* const own = command.as_of(world.plugins());
    sc_msg_iter message = read_arguments(arguments);
    return own && FaultGuard::run([&] { own->run(&world.abi().world.abi, own->user_data, &message, &from); });
}

} // namespace scs
