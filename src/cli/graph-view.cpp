// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/graph-view.hpp"

#include <spa/param/param.h>
#include <spa/utils/json.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

namespace scs::cli {

namespace {

GraphView::Properties copy(const spa_dict* dict) {
    GraphView::Properties made;
    const spa_dict nothing = {0, 0, nullptr};
    const spa_dict_item* item;
    spa_dict_for_each(item, dict ? dict : &nothing) {
        if (item->value)
            made[item->key] = item->value;
    }
    return made;
}

/// The name in { "name": "…" }.
std::string name_in(const char* text) {
    spa_json outer, json;
    spa_json_init(&outer, text, std::strlen(text));
    if (spa_json_enter_object(&outer, &json) <= 0)
        return {};
    std::array<char, 1024> key, value;
    while (spa_json_get_string(&json, key.data(), int(key.size())) > 0 &&
           spa_json_get_string(&json, value.data(), int(value.size())) > 0)
        if (std::string_view(key.data()) == "name")
            return value.data();
    return {};
}

} // namespace

/// A node or card.
struct GraphView::Seen {
    explicit Seen(pw_proxy* owned) : proxy(owned) {}
    Seen(const Seen&) = delete;
    Seen& operator=(const Seen&) = delete;
    ~Seen() {
        spa_hook_remove(&listener);
        pw_proxy_destroy(proxy);
    }

    pw_proxy* proxy;
    spa_hook listener{};
    Properties properties;
};

const pw_registry_events GraphView::registry_events = {
    .version = PW_VERSION_REGISTRY_EVENTS,
    .global = [](void* data, uint32_t id, uint32_t, const char* type, uint32_t,
                 const spa_dict* properties) { static_cast<GraphView*>(data)->add(id, type, properties); },
    .global_remove = [](void* data, uint32_t id) { static_cast<GraphView*>(data)->remove(id); },
};

const pw_node_events GraphView::node_events = {
    .version = PW_VERSION_NODE_EVENTS,
    .info =
        [](void* data, const pw_node_info* info) {
            if ((info->change_mask & PW_NODE_CHANGE_MASK_PROPS) && info->props)
                static_cast<Seen*>(data)->properties = copy(info->props);
        },
};

const pw_device_events GraphView::card_events = {
    .version = PW_VERSION_DEVICE_EVENTS,
    .info =
        [](void* data, const pw_device_info* info) {
            if ((info->change_mask & PW_DEVICE_CHANGE_MASK_PROPS) && info->props)
                static_cast<Seen*>(data)->properties = copy(info->props);
        },
};

struct GraphView::SeenMetadata {
    ~SeenMetadata() {
        spa_hook_remove(&listener);
        pw_proxy_destroy(proxy);
    }

    uint32_t id;
    pw_proxy* proxy;
    spa_hook listener;
};

const pw_metadata_events GraphView::metadata_events = {
    .version = PW_VERSION_METADATA_EVENTS,
    .property =
        [](void* data, uint32_t, const char* key, const char*, const char* value) {
            constexpr std::string_view keys[] = {"default.audio.sink", "default.audio.source"};
            for (size_t i = 0; i < std::size(keys); ++i)
                if (!key || key == keys[i])
                    static_cast<GraphView*>(data)->defaults_[i] = key && value ? name_in(value) : "";
            return 0;
        },
};

GraphView::GraphView(pw_core* core) : registry_(pw_core_get_registry(core, PW_VERSION_REGISTRY, 0)) {
    if (registry_)
        pw_registry_add_listener(registry_, &listener_, &registry_events, this);
}

GraphView::~GraphView() {
    nodes_.clear();
    cards_.clear();
    metadata_.reset();
    if (!registry_)
        return;
    spa_hook_remove(&listener_);
    pw_proxy_destroy(reinterpret_cast<pw_proxy*>(registry_));
}

void GraphView::add(uint32_t id, const char* type, const spa_dict* properties) {
    const std::string_view kind = type;
    if (kind == PW_TYPE_INTERFACE_Node) {
        add_node(id);
    } else if (kind == PW_TYPE_INTERFACE_Device) {
        add_card(id);
    } else if (kind == PW_TYPE_INTERFACE_Port) {
        ports_[id] = copy(properties);
    } else if (kind == PW_TYPE_INTERFACE_Metadata && !metadata_ && copy(properties)["metadata.name"] == "default") {
        auto* proxy = static_cast<pw_proxy*>(pw_registry_bind(registry_, id, type, PW_VERSION_METADATA, 0));
        if (!proxy)
            return;
        metadata_ = std::make_unique<SeenMetadata>();
        metadata_->id = id;
        metadata_->proxy = proxy;
        metadata_->listener = {};
        pw_metadata_add_listener(reinterpret_cast<pw_metadata*>(proxy), &metadata_->listener, &metadata_events, this);
    } else if (kind == PW_TYPE_INTERFACE_Client && properties) {
        const char* name = spa_dict_lookup(properties, PW_KEY_APP_NAME);
        for (const char* manager : {"WirePlumber", "pipewire-media-session"})
            if (name && std::string_view(name) == manager)
                session_managers_.insert(id);
    }
}

void GraphView::add_node(uint32_t id) {
    auto* proxy = static_cast<pw_proxy*>(pw_registry_bind(registry_, id, PW_TYPE_INTERFACE_Node, PW_VERSION_NODE, 0));
    if (!proxy)
        return;
    gone_.erase(id);
    auto& node = nodes_[id] = std::make_unique<Seen>(proxy);
    pw_node_add_listener(reinterpret_cast<pw_node*>(proxy), &node->listener, &node_events, node.get());
}

void GraphView::add_card(uint32_t id) {
    auto* proxy =
        static_cast<pw_proxy*>(pw_registry_bind(registry_, id, PW_TYPE_INTERFACE_Device, PW_VERSION_DEVICE, 0));
    if (!proxy)
        return;
    auto& card = cards_[id] = std::make_unique<Seen>(proxy);
    pw_device_add_listener(reinterpret_cast<pw_device*>(proxy), &card->listener, &card_events, card.get());
}

void GraphView::remove(uint32_t id) {
    session_managers_.erase(id);
    cards_.erase(id);
    if (const auto node = nodes_.find(id); node != nodes_.end()) {
        gone_[id] = std::move(node->second->properties);
        nodes_.erase(node);
    }
    ports_.erase(id);
    if (metadata_ && metadata_->id == id) {
        metadata_.reset();
        defaults_ = {};
    }
}

std::string GraphView::property(uint32_t id, const std::string& key) const {
    const auto node = nodes_.find(id);
    const auto gone = gone_.find(id);
    if (node == nodes_.end() && gone == gone_.end())
        return {};
    const Properties& properties = node == nodes_.end() ? gone->second : node->second->properties;
    const auto property = properties.find(key);
    return property == properties.end() ? std::string() : property->second;
}

uint32_t GraphView::find(const std::string& key, const std::string& value) const {
    for (const auto& [id, node] : nodes_) {
        const auto property = node->properties.find(key);
        if (property != node->properties.end() && property->second == value)
            return id;
    }
    return SPA_ID_INVALID;
}

std::vector<uint32_t> GraphView::with(const std::string& key) const {
    std::vector<uint32_t> found;
    for (const auto& [id, node] : nodes_)
        if (node->properties.contains(key))
            found.push_back(id);
    return found;
}

std::vector<GraphView::Properties> GraphView::all() const {
    std::vector<Properties> found;
    for (const auto& [id, node] : nodes_)
        found.push_back(node->properties);
    return found;
}

GraphView::Properties GraphView::card_of(const Properties& node) const {
    const auto id = node.find(PW_KEY_DEVICE_ID);
    if (id == node.end())
        return {};
    const auto card = cards_.find(uint32_t(std::strtoul(id->second.c_str(), nullptr, 10)));
    return card == cards_.end() ? Properties() : card->second->properties;
}

void GraphView::set_props(uint32_t id, const spa_pod& props) {
    if (const auto node = nodes_.find(id); node != nodes_.end())
        pw_node_set_param(reinterpret_cast<pw_node*>(node->second->proxy), SPA_PARAM_Props, 0, &props);
}

void GraphView::destroy(uint32_t id) {
    pw_registry_destroy(registry_, id);
}

} // namespace scs::cli
