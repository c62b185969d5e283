// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/plugins/rt-message.hpp"

#include "engine/base/text-line.hpp"
#include "engine/guard/fault-guard.hpp"
#include "engine/messages/outbox.hpp"
#include "engine/plugins/named-buffers.hpp"
#include "engine/plugins/plugin-host.hpp"
#include "engine/plugins/plugin-outlet.hpp"
#include "engine/plugins/plugin-world-abi.hpp"
#include "engine/rt/pool.hpp"

#include <new>

namespace scs {
namespace {

/// What of a message crashed, for the log.
void tell_of_crash(PluginWorld& world, const char* what) noexcept {
    TextLine line;
    line.add("a plugin's message %s\n", what);
    world.outbox().complain(line.take());
}

class FromRt final : public Command {
public:
    FromRt(PluginWorld& world, const ::FifoMsg& message)
        : world_(world), message_(message), buffers_(world.call(), int(world.abi().world.abi.mNumSndBufs)) {}

    JobKind job_kind() const noexcept override { return JobKind::plugin; }
    JobBuffers job_buffers() const noexcept override { return buffers_.get(); }
    Outcome run(Engine&) noexcept override { return Outcome::job; }
    void work() noexcept override {
        if (!FaultGuard::run([this] { message_.Perform(); }))
            failure_ = FaultGuard::last_ending() == FaultGuard::Ending::endless ? "took too long" : "crashed";
    }
    Outcome apply(Engine&) noexcept override {
        if (failure_)
            tell_of_crash(world_, failure_);
        if (!FaultGuard::run([this] { message_.Free(); }))
            tell_of_crash(world_, "crashed when it was freed");
        return Outcome::done;
    }
    void dispose() noexcept override {
        Pool& pool = world_.pool();
        SCS_UNPROVEN_BEGIN // nothing that it owns is the system's
        this->~FromRt();
        SCS_UNPROVEN_END
        pool.free(this);
    }

private:
    PluginWorld& world_;
    ::FifoMsg message_;
    NamedBuffers buffers_;
    const char* failure_ = nullptr;
};

class ToRt final : public Command {
public:
    ToRt(PluginWorld& world, const ::FifoMsg& message) : world_(world), message_(message) {}
    ~ToRt() override {
        if (!FaultGuard::run([this] { message_.Free(); }))
            (void)PluginOutlet::print_piece("a plugin's message crashed when it was freed\n");
    }
    Outcome run(Engine&) noexcept override { return Outcome::done; }
    Outcome apply(Engine&) noexcept override {
        was_performed_ = true;
        if (!FaultGuard::run([this] { message_.Perform(); }))
            tell_of_crash(world_, "crashed on the data loop");
        return Outcome::done;
    }
    /// The data stays the plugin's.
    void leave_data() noexcept { message_.mFreeFunc = nullptr; }
    /// It has to be freed where it was made.
    void dispose() noexcept override {
        if (was_performed_)
            return world_.outbox().hand_back(this, Handback::Kind::release);
        SCS_UNPROVEN_BEGIN // not on the data loop, which has performed it
        delete this;
        SCS_UNPROVEN_END
    }

private:
    PluginWorld& world_;
    ::FifoMsg message_;
    bool was_performed_ = false;
};

} // namespace

bool send_from_rt(PluginWorld& world, const ::FifoMsg& message) noexcept {
    void* memory = world.pool().allocate(sizeof(FromRt));
    if (!memory)
        return false;
    world.outbox().hand_back(new (memory) FromRt(world, message), Handback::Kind::job);
    return true;
}

bool send_to_rt(PluginWorld& world, const ::FifoMsg& message) noexcept {
    auto* command = new (std::nothrow) ToRt(world, message);
    if (!command)
        return false;
    if (world.host().finish_job(command))
        return true;
    command->leave_data();
    delete command;
    return false;
}

} // namespace scs
