// SPDX-License-Identifier: GPL-3.0-or-later
#include "remote-node.hpp"

#include "data-loop.hpp"

#include <pipewire/impl.h>
#include <pipewire/pipewire.h>
#include <spa/utils/result.h>

#include <cerrno>
#include <ctime>
#include <memory>
#include <string>

namespace scs::module {
namespace {

constexpr time_t answer_seconds = 5;

struct DestroyLoop {
    void operator()(pw_main_loop* loop) const { pw_main_loop_destroy(loop); }
};
struct DestroyContext {
    void operator()(pw_context* context) const { pw_context_destroy(context); }
};

/// A connection on a loop of its own, so that waiting does not run the host's callbacks.
class Request {
public:
    explicit Request(Properties settings) : settings_(std::move(settings)) {}

    std::optional<Failure> run() {
        if (!connect())
            return connection_failure(-errno, spa_strerror(-errno));
        timespec deadline = {answer_seconds, 0};
        pw_loop* loop = pw_main_loop_get_loop(loop_.get());
        spa_source* timer = pw_loop_add_timer(
            loop, [](void* data, uint64_t) { static_cast<Request*>(data)->finish(late()); }, this);
        pw_loop_update_timer(loop, timer, &deadline, nullptr, false);
        pw_main_loop_run(loop_.get());
        pw_loop_destroy_source(loop, timer);
        return failure_;
    }

private:
    static const pw_core_events core_events;
    static const pw_proxy_events proxy_events;

    static Failure late() { return {-ETIMEDOUT, "PipeWire has not answered within 5 s; the node may still appear"}; }

    static Failure connection_failure(int code, const char* reason) {
        return {code, std::string("no connection to PipeWire: ") + reason};
    }

    bool connect() {
        loop_.reset(pw_main_loop_new(nullptr));
        if (!loop_)
            return false;
        // No configuration: modules that it names, this one perhaps, are none of our business.
        context_.reset(pw_context_new(pw_main_loop_get_loop(loop_.get()),
                                      pw_properties_new(PW_KEY_CONFIG_NAME, "null", nullptr), 0));
        if (!context_)
            return false;
        if (!pw_context_load_module(context_.get(), "libpipewire-module-protocol-native", nullptr, nullptr))
            return false;
        const char* remote = pw_properties_get(settings_.get(), PW_KEY_REMOTE_NAME);
        core_ = pw_context_connect(context_.get(), pw_properties_new(PW_KEY_REMOTE_NAME, remote, nullptr), 0);
        if (!core_)
            return false;
        pw_core_add_listener(core_, &core_listener_, &core_events, this);
        return true;
    }

    /// The daemon has told its properties, the default rate among them, so the node can be asked for.
    void on_core_info(const pw_core_info& info) {
        if (proxy_)
            return;
        if (info.props)
            set_default(settings_, "scsynth.rate", spa_dict_lookup(info.props, "default.clock.rate"));
        if (has_named_loops(info.version))
            set_default(settings_, "node.loop.name", pw_properties_get(settings_.get(), "scsynth.loop"));
        pw_properties_set(settings_.get(), PW_KEY_REMOTE_NAME, nullptr);
        pw_properties_set(settings_.get(), PW_KEY_OBJECT_LINGER, "true");
        proxy_ = static_cast<pw_proxy*>(pw_core_create_object(core_, "spa-node-factory", PW_TYPE_INTERFACE_Node,
                                                              PW_VERSION_NODE, &settings_->dict, 0));
        if (proxy_)
            pw_proxy_add_listener(proxy_, &proxy_listener_, &proxy_events, this);
        else
            finish(Failure{-errno, "cannot ask PipeWire for a node"});
    }

    void on_error(uint32_t id, int code, const char* message) {
        if (proxy_ && id == pw_proxy_get_id(proxy_)) {
            Failure failure = creation_failure(code, settings_->dict);
            failure.text += std::string(" (PipeWire: ") + message + ")";
            finish(std::move(failure));
        } else if (id == PW_ID_CORE) {
            finish(connection_failure(code, message));
        }
    }

    void finish(std::optional<Failure> failure) {
        if (finished_)
            return;
        finished_ = true;
        failure_ = std::move(failure);
        pw_main_loop_quit(loop_.get());
    }

    Properties settings_;
    pw_core* core_ = nullptr;
    pw_proxy* proxy_ = nullptr;
    spa_hook core_listener_{};
    spa_hook proxy_listener_{};
    bool finished_ = false;
    std::optional<Failure> failure_;
    // Declared last, so destroyed first: core and proxy go with the context and still use the listeners above.
    std::unique_ptr<pw_main_loop, DestroyLoop> loop_;
    std::unique_ptr<pw_context, DestroyContext> context_;
};

const pw_core_events Request::core_events = {
    .version = PW_VERSION_CORE_EVENTS,
    .info = [](void* data, const pw_core_info* info) { static_cast<Request*>(data)->on_core_info(*info); },
    .error = [](void* data, uint32_t id, int, int code,
                const char* message) { static_cast<Request*>(data)->on_error(id, code, message); },
};

const pw_proxy_events Request::proxy_events = {
    .version = PW_VERSION_PROXY_EVENTS,
    .bound = [](void* data, uint32_t) { static_cast<Request*>(data)->finish({}); },
};

} // namespace

std::optional<Failure> make_remote_node(Properties settings) {
    return Request(std::move(settings)).run();
}

} // namespace scs::module
