// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/connection.hpp"

#include "cli/client-name.hpp"

#include <spa/utils/result.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <utility>

namespace scs::cli {

namespace {

using Clock = std::chrono::steady_clock;
constexpr auto answer_time = std::chrono::seconds(5);

/// PipeWire's configuration for clients. Since 1.3.81 client.conf gives data loops real-time priority; before, that was
/// client-rt.conf.
const char* config_name(bool with_node) {
    std::array<int, 3> version{};
    std::sscanf(pw_get_library_version(), "%d.%d.%d", &version[0], &version[1], &version[2]);
    return with_node && version < std::array{1, 3, 81} ? "client-rt.conf" : "client.conf";
}

} // namespace

const pw_core_events Connection::core_events = {
    .version = PW_VERSION_CORE_EVENTS,
    .info =
        [](void* data, const pw_core_info* info) {
            auto* self = static_cast<Connection*>(data);
            self->version_ = info->version ? info->version : "";
            const spa_dict nothing = {0, 0, nullptr};
            const spa_dict_item* item;
            spa_dict_for_each(item, info->props ? info->props : &nothing) {
                if (item->value)
                    self->daemon_[item->key] = item->value;
            }
        },
    .done = [](void* data, uint32_t, int seq) { static_cast<Connection*>(data)->done_ = seq; },
    .error =
        [](void* data, uint32_t id, int, int code, const char*) {
            auto* self = static_cast<Connection*>(data);
            if (id == PW_ID_CORE && (code == -EPIPE || code == -ECONNRESET))
                self->lost_ = true;
        },
};

Result<std::unique_ptr<Connection>> Connection::open(bool with_node) {
    auto made = prepare(with_node);
    if (!made || !made->connect())
        return not_connected(errno);
    return made;
}

std::unique_ptr<Connection> Connection::prepare(bool with_node) {
    std::unique_ptr<Connection> made(new Connection);
    if (!made->make_context(with_node))
        made.reset();
    return made;
}

Error not_connected(int error) {
    std::string text = std::string("no connection to PipeWire (") + spa_strerror(-error) + "): ";
    if (runtime_folder().empty())
        return {text + "XDG_RUNTIME_DIR isn't set, and nobody of this user is logged in. Log in, or let the user's "
                       "services run without that: loginctl enable-linger"};
    return {text + "is the daemon running? Start it with: systemctl --user start pipewire wireplumber"};
}

bool Connection::make_context(bool with_node) {
    loop_ = pw_loop_new(nullptr);
    if (!loop_)
        return false;
    pw_loop_enter(loop_);
    const auto interrupt = [](void* data, int) { static_cast<Connection*>(data)->interrupted_ = true; };
    for (const int number : {SIGINT, SIGTERM, SIGHUP})
        pw_loop_add_signal(loop_, number, interrupt, this);
    context_ = pw_context_new(loop_, pw_properties_new(PW_KEY_CONFIG_NAME, config_name(with_node), nullptr), 0);
    return context_ != nullptr;
}

bool Connection::connect() {
    core_ = pw_context_connect(context_, nullptr, 0);
    if (!core_)
        return false;
    pw_core_add_listener(core_, &listener_, &core_events, this);
    graph_ = std::make_unique<GraphView>(core_);
    return true;
}

void Connection::end_with(int fd) {
    life_line_ = pw_loop_add_io(
        loop_, fd, SPA_IO_HUP, false,
        [](void* data, int, uint32_t) {
            auto* self = static_cast<Connection*>(data);
            self->interrupted_ = true;
            pw_loop_destroy_source(self->loop_, std::exchange(self->life_line_, nullptr));
        },
        this);
}

void Connection::disconnect() {
    graph_.reset();
    if (core_) {
        spa_hook_remove(&listener_);
        pw_core_disconnect(core_);
        core_ = nullptr;
    }
    daemon_.clear();
    done_ = -1;
    lost_ = false;
}

Connection::~Connection() {
    if (life_line_)
        pw_loop_destroy_source(loop_, life_line_);
    disconnect();
    if (context_)
        pw_context_destroy(context_);
    if (loop_) {
        pw_loop_leave(loop_);
        pw_loop_destroy(loop_);
    }
}

Connection::Waited Connection::wait_until(const std::function<bool()>& condition,
                                          std::optional<std::chrono::milliseconds> limit) {
    const auto end = Clock::now() + limit.value_or(std::chrono::milliseconds(0));
    while (!condition()) {
        if (lost_)
            return Waited::lost;
        if (std::exchange(interrupted_, false))
            return Waited::interrupted;
        int wait = -1;
        if (limit) {
            wait = int(std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count());
            if (wait <= 0)
                return Waited::late;
        }
        pw_loop_iterate(loop_, wait);
    }
    return Waited::done;
}

Connection::Waited Connection::round_trip() {
    const int asked = pw_core_sync(core_, PW_ID_CORE, 0);
    return wait_until([&] { return done_ == asked; }, answer_time);
}

std::string Connection::daemon_property(const std::string& key) const {
    const auto found = daemon_.find(key);
    return found == daemon_.end() ? std::string() : found->second;
}

Error unanswered(Connection::Waited how) {
    switch (how) {
    case Connection::Waited::lost: return {"the connection to PipeWire is lost: its daemon has ended"};
    case Connection::Waited::late: return {"PipeWire has not answered within 5 s"};
    default: return {"interrupted"};
    }
}

} // namespace scs::cli
