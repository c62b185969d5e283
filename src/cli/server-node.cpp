// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/server-node.hpp"

#include "dict.hpp"
#include "module/data-loop.hpp"
#include "module/plugin-word.hpp"
#include "module/thread-offer.hpp"
#include "ugen-folders.hpp"

#include <pipewire/impl.h>
#include <spa/node/node.h>
#include <spa/param/props.h>
#include <spa/pod/builder.h>

#include <cerrno>

namespace scs::cli {

const pw_proxy_events ServerNode::proxy_events = {
    .version = PW_VERSION_PROXY_EVENTS,
    .bound = [](void* data, uint32_t id) { static_cast<ServerNode*>(data)->id_ = id; },
    .removed = [](void* data) { static_cast<ServerNode*>(data)->id_ = SPA_ID_INVALID; },
    .error = [](void* data, int, int code, const char*) { static_cast<ServerNode*>(data)->error_ = code; },
};

ServerNode::~ServerNode() {
    drop();
}

void ServerNode::drop() {
    if (proxy_) {
        spa_hook_remove(&listener_);
        pw_proxy_destroy(proxy_);
        proxy_ = nullptr;
        connection_.round_trip();
    }
    if (handle_)
        pw_unload_spa_handle(handle_);
    handle_ = nullptr;
    here_ = nullptr;
    id_ = SPA_ID_INVALID;
}

void ServerNode::tell(const char* key, const char* text) {
    uint8_t memory[1024];
    spa_pod_builder b{};
    spa_pod_builder_init(&b, memory, sizeof memory);
    spa_pod_frame props, words;
    spa_pod_builder_push_object(&b, &props, SPA_TYPE_OBJECT_Props, SPA_PARAM_Props);
    spa_pod_builder_prop(&b, SPA_PROP_params, 0);
    spa_pod_builder_push_struct(&b, &words);
    spa_pod_builder_string(&b, key);
    spa_pod_builder_string(&b, text);
    spa_pod_builder_pop(&b, &words);
    const auto* param = static_cast<const spa_pod*>(spa_pod_builder_pop(&b, &props));
    if (!param)
        return;
    if (here_)
        spa_node_set_param(here_, SPA_PARAM_Props, 0, param);
    else
        connection_.graph().set_props(id_, *param);
}

int ServerNode::create(Place place, const std::map<std::string, std::string>& properties) {
    error_ = 0;
    if (place == Place::this_process) {
        if (const int res = make_here(properties); res < 0)
            return res;
    } else {
        const spa::Dict dict(properties);
        proxy_ = static_cast<pw_proxy*>(pw_core_create_object(connection_.core(), "spa-node-factory",
                                                              PW_TYPE_INTERFACE_Node, PW_VERSION_NODE, dict.get(), 0));
        if (!proxy_)
            return -errno;
    }
    pw_proxy_add_listener(proxy_, &listener_, &proxy_events, this);

    using Waited = Connection::Waited;
    const Waited waited =
        connection_.wait_until([&] { return id_ != SPA_ID_INVALID || error_ < 0; }, std::chrono::seconds(5));
    int res = 0;
    switch (waited) {
    case Waited::done: res = id_ == SPA_ID_INVALID ? error_ : 0; break;
    case Waited::interrupted: res = -EINTR; break;
    case Waited::lost: res = -EPIPE; break;
    case Waited::late: res = -ETIMEDOUT; break;
    }
    if (res < 0)
        drop();
    return res;
}

/// From now on this process, which makes only the node that its user asked for, may load UGens from anywhere. The
/// handle is kept until the process ends.
static void trust_this_process(const spa_dict& properties) {
    static spa_handle* handle = nullptr;
    if (handle)
        return;
    spa::UgenFolders* folders = nullptr;
    handle = module::word_to_plugin(properties, spa::ugen_folders_factory, spa::ugen_folders_interface, folders);
    if (handle)
        folders->trust(handle, true);
}

int ServerNode::make_here(std::map<std::string, std::string> properties) {
    pw_context* context = connection_.context();
    const auto loop = module::data_loop_for(context, *spa::Dict(properties).get());
    if (!loop) {
        pw_log_error("%s", loop.error().c_str());
        return -EINVAL;
    }
    if (!loop.value().empty())
        properties["node.loop.name"] = loop.value();
    const spa::Dict settings(properties);
    trust_this_process(*settings.get());
    static spa_handle* const offered = module::offer_threads(context, *settings.get());
    (void)offered; // until the process ends
    handle_ =
        pw_context_load_spa_handle(context, spa_dict_lookup(settings.get(), SPA_KEY_FACTORY_NAME), settings.get());
    if (!handle_)
        return -errno;
    void* node = nullptr;
    int res = spa_handle_get_interface(handle_, SPA_TYPE_INTERFACE_Node, &node);
    if (res >= 0) {
        auto shown = properties; // to all clients of PipeWire
        shown.erase("scsynth.password");
        proxy_ = pw_core_export(connection_.core(), SPA_TYPE_INTERFACE_Node, spa::Dict(shown).get(), node, 0);
        res = proxy_ ? 0 : -errno;
        here_ = static_cast<spa_node*>(node);
    }
    if (res < 0) {
        pw_unload_spa_handle(handle_);
        handle_ = nullptr;
        here_ = nullptr;
    }
    return res;
}

} // namespace scs::cli
