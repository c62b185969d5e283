// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/plugins/rt-message.hpp"

#include "engine/messages/outbox.hpp"
#include "engine/plugins/plugin-host.hpp"
#include "engine/plugins/plugin-world.hpp"
#include "engine/rt/pool.hpp"

#include <new>

namespace scs {
namespace {

class FromRt final : public Command {
public:
    FromRt(PluginWorld& world, const ::FifoMsg& message) : world_(world), message_(message) {}
    Outcome run(Engine&) noexcept override { return Outcome::job; }
    void work() noexcept override { message_.Perform(); }
    Outcome apply(Engine&) noexcept override {
        message_.Free();
        return Outcome::done;
    }
    void dispose() noexcept override {
        Pool& pool = world_.pool();
        this->~FromRt();
        pool.free(this);
    }

private:
    PluginWorld& world_;
    ::FifoMsg message_;
};

class ToRt final : public Command {
public:
    ToRt(PluginWorld& world, const ::FifoMsg& message) : world_(world), message_(message) {}
    ~ToRt() override { message_.Free(); }
    Outcome run(Engine&) noexcept override { return Outcome::done; }
    Outcome apply(Engine&) noexcept override {
        message_.Perform();
        world_.outbox().hand_back(this, Kind::release);
        return Outcome::done;
    }

private:
    PluginWorld& world_;
    ::FifoMsg message_;
};

} // namespace

bool send_from_rt(PluginWorld& world, const ::FifoMsg& message) noexcept {
    void* memory = world.pool().allocate(sizeof(FromRt));
    if (!memory)
        return false;
    world.outbox().hand_back(new (memory) FromRt(world, message), Handback::Kind::job);
    return true;
}

bool send_to_rt(PluginWorld& world, const ::FifoMsg& message) {
    auto* command = new ToRt(world, message);
    if (world.host().finish_job(command))
        return true;
    delete command;
    return false;
}

} // namespace scs
