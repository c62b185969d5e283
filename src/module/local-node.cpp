// SPDX-License-Identifier: GPL-3.0-or-later
#include "local-node.hpp"

#include "data-loop.hpp"

#include <pipewire/impl.h>
#include <spa/node/node.h>

#include <cerrno>
#include <string>
#include <string_view>

namespace scs::module {
namespace {

/// Ties a node, its plugin's handle and the module together. It deletes itself when the node goes.
class LocalNode {
public:
    LocalNode(pw_impl_node* node, spa_handle* handle) : node_(node), handle_(handle) {
        pw_impl_node_add_listener(node_, &node_listener_, &node_events, this);
    }
    LocalNode(const LocalNode&) = delete;
    LocalNode& operator=(const LocalNode&) = delete;

    /// From now on node and module end together.
    void join(pw_impl_module* module, bool allow_quit) {
        module_ = module;
        allow_quit_ = allow_quit;
        pw_impl_module_add_listener(module_, &module_listener_, &module_events, this);
    }

private:
    static const pw_impl_node_events node_events;
    static const pw_impl_module_events module_events;

    ~LocalNode() {
        spa_hook_remove(&node_listener_);
        pw_unload_spa_handle(handle_);
    }

    void on_info(const pw_node_info& info) {
        if (!allow_quit_ || !(info.change_mask & PW_NODE_CHANGE_MASK_PROPS))
            return;
        const char* state = spa_dict_lookup(info.props, "scsynth.state");
        if (state && std::string_view(state) == "quit")
            leave();
    }

    void on_node_free() {
        if (module_) {
            leave();
            spa_hook_remove(&module_listener_);
        }
        delete this;
    }

    void on_module_destroy() {
        spa_hook_remove(&module_listener_);
        module_ = nullptr;
        pw_impl_node_destroy(node_);
    }

    /// Ends the module on a later turn of the main loop: the node is in the middle of an event.
    void leave() {
        if (!leaving_)
            pw_impl_module_schedule_destroy(module_);
        leaving_ = true;
    }

    pw_impl_node* node_;
    spa_handle* handle_;
    pw_impl_module* module_ = nullptr;
    bool allow_quit_ = false;
    bool leaving_ = false;
    spa_hook node_listener_{};
    spa_hook module_listener_{};
};

const pw_impl_node_events LocalNode::node_events = {
    .version = PW_VERSION_IMPL_NODE_EVENTS,
    .free = [](void* data) { static_cast<LocalNode*>(data)->on_node_free(); },
    .info_changed = [](void* data, const pw_node_info* info) { static_cast<LocalNode*>(data)->on_info(*info); },
};

const pw_impl_module_events LocalNode::module_events = {
    .version = PW_VERSION_IMPL_MODULE_EVENTS,
    .destroy = [](void* data) { static_cast<LocalNode*>(data)->on_module_destroy(); },
};

} // namespace

void add_daemon_defaults(pw_impl_module* module, const Properties& settings) {
    const pw_properties* host = pw_context_get_properties(pw_impl_module_get_context(module));
    pw_properties_set(settings.get(), "clock.quantum-limit", pw_properties_get(host, "default.clock.quantum-limit"));
    set_default(settings, "scsynth.rate", pw_properties_get(host, "default.clock.rate"));
}

std::optional<Failure> make_local_node(pw_impl_module* module, Properties settings) {
    pw_context* context = pw_impl_module_get_context(module);
    const uint32_t id = pw_global_get_id(pw_impl_module_get_global(module));
    pw_properties_set(settings.get(), PW_KEY_MODULE_ID, std::to_string(id).c_str());
    const auto loop = data_loop_for(context, settings->dict);
    if (!loop)
        return Failure{-EINVAL, loop.error()};
    if (!loop.value().empty())
        pw_properties_set(settings.get(), "node.loop.name", loop.value().c_str());
    const spa_dict* dict = &settings->dict;
    spa_handle* handle = pw_context_load_spa_handle(context, spa_dict_lookup(dict, SPA_KEY_FACTORY_NAME), dict);
    if (!handle)
        return creation_failure(-errno, *dict);

    void* implementation = nullptr;
    if (const int res = spa_handle_get_interface(handle, SPA_TYPE_INTERFACE_Node, &implementation); res < 0) {
        pw_unload_spa_handle(handle);
        return Failure{res, "the factory makes no node"};
    }

    pw_properties_set(settings.get(), "scsynth.password", nullptr);
    const bool allow_quit = pw_properties_get_bool(settings.get(), "scsynth.allow-quit", false);
    pw_impl_node* node = pw_context_create_node(context, settings.release(), 0);
    if (!node) {
        const int res = -errno;
        pw_unload_spa_handle(handle);
        return Failure{res, "PipeWire refuses to make a node"};
    }
    auto* local = new LocalNode(node, handle);
    int res = pw_impl_node_set_implementation(node, static_cast<spa_node*>(implementation));
    if (res >= 0)
        res = pw_impl_node_set_active(node, true);
    if (res >= 0)
        res = pw_impl_node_register(node, nullptr);
    if (res < 0) {
        pw_impl_node_destroy(node);
        return Failure{res, "PipeWire refuses the node"};
    }
    local->join(module, allow_quit);
    return {};
}

} // namespace scs::module
