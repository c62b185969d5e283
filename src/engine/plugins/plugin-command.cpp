// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/plugins/plugin-command.hpp"

#include "engine/base/text-line.hpp"
#include "engine/guard/fault-guard.hpp"
#include "engine/messages/outbox.hpp"
#include "engine/plugins/commands.hpp"
#include "engine/plugins/named-buffers.hpp"
#include "engine/plugins/osc-arguments.hpp"
#include "engine/plugins/plugin-world-abi.hpp"
#include "engine/plugins/plugin-world.hpp"
#include "engine/plugins/registry.hpp"
#include "engine/plugins/reply-address.hpp"
#include "engine/plugins/unit-hold.hpp"
#include "engine/rt/pool.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <optional>
#include <string_view>
#include <utility>

namespace scs {
namespace {

const char* stage_name(int stage) noexcept {
    constexpr const char* names[] = {"its second stage", "its third stage", "its fourth stage", "its cleanup"};
    return names[stage - 2];
}

/// Goes to the worker and back twice, once for each of the stages there: `work()` is the second stage, then the fourth.
/// In between, on the data loop, are the third, in apply(), and the completion. If a stage doesn't return true, the
/// next ones are left out, but the worker is told in any case when there is nothing more to come (job_follows()).
class AsyncCommand final : public Command {
public:
    AsyncCommand(PluginWorld& world, const ReplyTo& from, const char* name, void* data, const AsyncStages& stages,
                 std::span<const std::byte> completion) noexcept
        : world_(world),
          stages_(stages),
          data_(data),
          from_(from),
          address_(make_reply_address(from)),
          buffers_(world.call(), int(world.abi().world.abi.mNumSndBufs)),
          completion_bytes_(completion.size()),
          named_(name) {
        if (name) {
            name_bytes_ = strnlen(name, sizeof name_);
            std::memcpy(name_, name, name_bytes_);
        }
        std::copy(completion.begin(), completion.end(), completion_begin());
    }

    JobKind job_kind() const noexcept override { return JobKind::plugin; }
    JobBuffers job_buffers() const noexcept override { return buffers_.get(); }
    bool job_follows() const noexcept override { return stage_ == 2 && good_; }
    CompletionRequest take_completion_request() noexcept override {
        return {{completion_begin(), std::exchange(completion_bytes_, 0)}, from_};
    }

    Outcome run(Engine&) noexcept override { return Outcome::job; }
    void work() noexcept override {
        stage_ = goes_on_ ? 4 : 2;
        if (good_)
            call(stage_ == 2 ? stages_.on_worker : stages_.at_the_end, stages_.unit);
    }
    Outcome apply(Engine&) noexcept override {
        go_on();
        run_completion = good_ && !unit_left_;
        return Outcome::done;
    }
    void dispose() noexcept override {
        if (std::exchange(comes_again_, false)) {
            goes_on_ = true;
            world_.outbox().hand_back(this, Kind::job);
            return;
        }
        clean_up();
        Pool& pool = world_.pool();
        SCS_UNPROVEN_BEGIN // nothing that it owns is the system's
        this->~AsyncCommand();
        SCS_UNPROVEN_END
        pool.free(this);
    }

    /// Offline: all stages at once, but for the fourth of a command with a completion, which comes before that.
    /// dispose() hands it back then.
    void run_through() noexcept {
        work();
        go_on();
        if (good_ && completion_bytes_ > 0) {
            tell(EventKind::completion, {completion_begin(), completion_bytes_});
        } else if (std::exchange(comes_again_, false)) {
            goes_on_ = true;
            work();
            go_on();
        }
        dispose();
    }

private:
    /// [rt] What follows the job. Failures of both threads are told here.
    void go_on() noexcept {
        if (stage_ == 2 && good_) {
            comes_again_ = true;
            stage_ = 3;
            unit_left_ = stages_.unit && has_unit_left(*stages_.unit);
            if (unit_left_)
                completion_bytes_ = 0;
            call(stages_.on_rt, unit_left_ ? nullptr : stages_.unit);
        } else if (stage_ == 4 && good_ && named_ && !unit_left_) {
            tell(EventKind::command_done, std::as_bytes(std::span(name_, name_bytes_)));
        }
        tell_of_crash();
    }
    ::World* world() noexcept { return &world_.abi().lasting.world(stages_.api).abi; }
    void call(const AsyncStage& stage, ::Unit* unit) noexcept {
        if (stage && !FaultGuard::run([&] { good_ = stage(world(), unit, data_, &address_); }))
            note_crash();
    }
    void clean_up() noexcept {
        stage_ = 5;
        if (stages_.cleanup && !FaultGuard::run([this] { stages_.cleanup(world(), data_); }))
            note_crash();
        if (stages_.unit)
            let_unit_go(*stages_.unit);
        tell_of_crash();
    }
    void note_crash() noexcept {
        good_ = false;
        crash_ = FaultGuard::last_ending();
    }
    void tell_of_crash() noexcept {
        if (!crash_)
            return;
        TextLine line;
        if (named_)
            line.add("%.*s", int(name_bytes_), name_);
        else
            line.add("a plugin's command");
        line.add(" %s in %s", *crash_ == FaultGuard::Ending::endless ? "took too long" : "crashed", stage_name(stage_));
        crash_.reset();
        const std::string_view text = line.take();
        tell(EventKind::command_failed, std::as_bytes(std::span(text)));
    }
    void tell(EventKind kind, std::span<const std::byte> bytes) noexcept {
        const ReplyEvent event{{kind, uint32_t(sizeof(ReplyEvent) + bytes.size())}, from_};
        world_.outbox().notify(event, bytes);
    }
    std::byte* completion_begin() noexcept { return reinterpret_cast<std::byte*>(this + 1); }

    PluginWorld& world_;
    AsyncStages stages_;
    void* data_;
    ReplyTo from_;
    ReplyAddress address_; ///< of `from_`, for stages
    NamedBuffers buffers_;
    size_t completion_bytes_;
    size_t name_bytes_ = 0;
    char name_[64];
    bool named_;
    int stage_ = 2;                           ///< which was called last
    bool good_ = true;                        ///< all so far have returned true
    bool goes_on_ = false;                    ///< the next job is the fourth stage
    bool unit_left_ = false;                  ///< before the third stage
    bool comes_again_ = false;                ///< that job is still to be handed back
    std::optional<FaultGuard::Ending> crash_; ///< of a stage, not yet told
};

} // namespace

bool start_async_command(PluginWorld& world, const ReplyTo& from, const char* name, void* data,
                         const AsyncStages& stages, std::span<const std::byte> completion) noexcept {
    if (stages.unit && !hold_unit(*stages.unit))
        return false;
    void* memory = world.pool().allocate(sizeof(AsyncCommand) + completion.size());
    if (!memory) {
        if (stages.unit)
            let_unit_go(*stages.unit);
        return false;
    }
    auto* command = new (memory) AsyncCommand(world, from, name, data, stages, completion);
    if (world.real_time())
        world.outbox().hand_back(command, Handback::Kind::job);
    else
        command->run_through();
    return true;
}

const PluginCommand* find_plugin_command(std::string_view name) {
    return PluginRegistry::instance().latest_command(name);
}

bool run_plugin_command(PluginWorld& world, std::string_view name, const PluginCommand& command,
                        std::span<const std::byte> arguments, const ReplyTo& from) noexcept {
    const PluginCommand* const own = command.as_of(world.plugins());
    sc_msg_iter message = read_arguments(arguments);
    ReplyAddress address = make_reply_address(from);
    const PluginWorld::Call call(world, arguments);
    if (!own)
        return false;
    if (FaultGuard::run(
            [&] { own->run(&world.abi().lasting.world(own->api).abi, own->user_data, &message, &address); }))
        return true;
    TextLine line;
    line.add("plugin command '%.*s' %s", int(std::min<size_t>(name.size(), 100)), name.data(),
             FaultGuard::last_ending() == FaultGuard::Ending::endless ? "took too long" : "crashed");
    world.outbox().complain(line.take());
    return false;
}

} // namespace scs
