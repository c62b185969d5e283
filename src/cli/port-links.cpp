// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/port-links.hpp"

#include "dict.hpp"

#include <algorithm>
#include <cstdlib>
#include <tuple>

namespace scs::cli {

namespace {

constexpr const char* sound = "32 bit float mono audio"; ///< the format of audio ports

const std::string& get(const GraphView::Properties& properties, const char* key) {
    static const std::string none;
    const auto found = properties.find(key);
    return found == properties.end() ? none : found->second;
}

uint32_t number(const std::string& text) {
    return uint32_t(std::strtoul(text.c_str(), nullptr, 10));
}

} // namespace

struct PortLinks::Link {
    explicit Link(pw_proxy* made) : proxy(made) { pw_proxy_add_listener(proxy, &listener, &events, this); }
    Link(const Link&) = delete;
    Link& operator=(const Link&) = delete;
    ~Link() {
        spa_hook_remove(&listener);
        pw_proxy_destroy(proxy);
    }

    static const pw_proxy_events events;

    pw_proxy* proxy;
    spa_hook listener{};
    bool removed = false; ///< it was there, and somebody else removed it
};

/// An error is most often that somebody else has made this link already, which is as well.
const pw_proxy_events PortLinks::Link::events = {
    .version = PW_VERSION_PROXY_EVENTS,
    .removed =
        [](void* data) {
            auto* self = static_cast<Link*>(data);
            self->removed = pw_proxy_get_bound_id(self->proxy) != SPA_ID_INVALID;
        },
};

PortLinks::PortLinks(Connection& connection, uint32_t node, const std::optional<PortList>& outputs,
                     const std::optional<PortList>& inputs)
    : connection_(connection), node_(node) {
    add(true, outputs);
    add(false, inputs);
}

PortLinks::~PortLinks() = default;

void PortLinks::add(bool output, const std::optional<PortList>& list) {
    if (!list || list->names.empty())
        return;
    Side& side = sides_.emplace_back(Side{output, *list, {}, {}});
    side.entries.resize(list->names.size());
    if (!list->is_pattern)
        return;
    try {
        side.pattern.emplace(list->names[0], std::regex::extended | std::regex::nosubs);
    } catch (const std::regex_error&) {
        // matches nothing, as in JACK
    }
}

void PortLinks::update(bool idle) {
    for (Side& side : sides_)
        update(side, idle);
}

void PortLinks::update(Side& side, bool idle) {
    if (idle) {
        drop_links(side);
        return;
    }
    const auto own = own_ports(side.output);
    const auto others = targets(side);
    side.entries.resize(std::max(side.entries.size(), others.size())); // a pattern's: as many as both sides have
    for (size_t i = 0; i < side.entries.size(); ++i) {
        Entry& entry = side.entries[i];
        const auto port = own.find(uint32_t(i + 1));
        const uint32_t other = port != own.end() && i < others.size() ? others[i] : SPA_ID_INVALID;
        if (other == entry.target)
            continue;
        entry = Entry();
        entry.target = other;
        if (other != SPA_ID_INVALID)
            entry.link = make_link(side.output, port->second, other);
    }
}

/// Those that somebody removed are remembered as long as their ports are there, or they would come back.
void PortLinks::drop_links(Side& side) const {
    const auto& ports = connection_.graph().ports();
    for (Entry& entry : side.entries)
        if (!entry.link || !entry.link->removed || !ports.contains(entry.target))
            entry = Entry();
}

std::unique_ptr<PortLinks::Link> PortLinks::make_link(bool output, uint32_t own, uint32_t other) const {
    const auto& peer = connection_.graph().ports().at(other);
    const std::map<std::string, std::string> ends = {
        {output ? PW_KEY_LINK_OUTPUT_NODE : PW_KEY_LINK_INPUT_NODE, std::to_string(node_)},
        {output ? PW_KEY_LINK_OUTPUT_PORT : PW_KEY_LINK_INPUT_PORT, std::to_string(own)},
        {output ? PW_KEY_LINK_INPUT_NODE : PW_KEY_LINK_OUTPUT_NODE, get(peer, PW_KEY_NODE_ID)},
        {output ? PW_KEY_LINK_INPUT_PORT : PW_KEY_LINK_OUTPUT_PORT, std::to_string(other)}};
    const spa::Dict properties(ends);
    auto* proxy = static_cast<pw_proxy*>(pw_core_create_object(
        connection_.core(), "link-factory", PW_TYPE_INTERFACE_Link, PW_VERSION_LINK, properties.get(), 0));
    return proxy ? std::make_unique<Link>(proxy) : nullptr;
}

std::vector<std::string> PortLinks::missing() const {
    std::vector<std::string> names;
    for (const Side& side : sides_)
        for (size_t i = 0; i < side.list.names.size(); ++i)
            if (!side.list.names[i].empty() && side.entries[i].target == SPA_ID_INVALID)
                names.push_back(side.list.names[i]);
    return names;
}

std::map<uint32_t, uint32_t> PortLinks::own_ports(bool output) const {
    std::map<uint32_t, uint32_t> own;
    for (const auto& [id, port] : connection_.graph().ports())
        if (get(port, PW_KEY_NODE_ID) == std::to_string(node_) &&
            get(port, PW_KEY_PORT_DIRECTION) == (output ? "out" : "in") && get(port, PW_KEY_FORMAT_DSP) == sound)
            own.emplace(number(get(port, PW_KEY_PORT_ID)) + 1, id); // whatever its name is
    return own;
}

/// Whether one of our outputs, or inputs, could be linked to it.
bool PortLinks::suits(const GraphView::Properties& port, bool output) const {
    return get(port, PW_KEY_PORT_DIRECTION) == (output ? "in" : "out") && get(port, PW_KEY_FORMAT_DSP) == sound &&
           get(port, PW_KEY_NODE_ID) != std::to_string(node_);
}

/// Whether it gives what a sink plays. The ports of a virtual source, which is a sink turned round, say so, too.
bool PortLinks::is_monitor(const GraphView::Properties& port) const {
    const std::string of = connection_.graph().property(number(get(port, PW_KEY_NODE_ID)), PW_KEY_MEDIA_CLASS);
    return get(port, PW_KEY_PORT_MONITOR) == "true" && of.find("Source") == of.npos;
}

/// As pipewire-jack names it: by the description of its node.
std::string PortLinks::jack_name_of(const GraphView::Properties& port) const {
    const GraphView& graph = connection_.graph();
    const uint32_t node = number(get(port, PW_KEY_NODE_ID));
    std::string client;
    for (const char* key : {PW_KEY_NODE_DESCRIPTION, PW_KEY_NODE_NICK, PW_KEY_NODE_NAME})
        if (client.empty())
            client = graph.property(node, key);
    if (const std::string program = graph.property(node, PW_KEY_APP_NAME); !program.empty() && program != client)
        client = program + "/" + client;
    return client + ":" + get(port, PW_KEY_PORT_NAME);
}

std::vector<std::string> PortLinks::names_of(const GraphView::Properties& port) const {
    const GraphView& graph = connection_.graph();
    const std::string node = graph.property(number(get(port, PW_KEY_NODE_ID)), PW_KEY_NODE_NAME);
    const bool input = get(port, PW_KEY_PORT_DIRECTION) == "in";
    std::vector<std::string> names = {jack_name_of(port), node + ":" + get(port, PW_KEY_PORT_NAME)};
    for (const char* key : {PW_KEY_PORT_ALIAS, PW_KEY_OBJECT_PATH})
        if (const std::string& name = get(port, key); !name.empty()) // an empty name leaves one of our ports out
            names.push_back(name);
    if (!node.empty() && node == (input ? graph.default_sink() : graph.default_source()) && !is_monitor(port))
        names.push_back((input ? "system:playback_" : "system:capture_") +
                        std::to_string(number(get(port, PW_KEY_PORT_ID)) + 1));
    return names;
}

std::vector<uint32_t> PortLinks::targets(const Side& side) const {
    if (side.list.is_pattern)
        return matches(side);
    const std::vector<std::string>& wanted = side.list.names;
    std::vector<uint32_t> found(wanted.size(), SPA_ID_INVALID);
    for (const auto& [id, port] : connection_.graph().ports()) {
        if (!suits(port, side.output))
            continue;
        const auto names = names_of(port);
        for (size_t i = 0; i < wanted.size(); ++i)
            if (found[i] == SPA_ID_INVALID && std::find(names.begin(), names.end(), wanted[i]) != names.end())
                found[i] = id;
    }
    return found;
}

/// The ports whose names the pattern is in: those of the default device first, then node by node.
std::vector<uint32_t> PortLinks::matches(const Side& side) const {
    const GraphView& graph = connection_.graph();
    const std::string& first = side.output ? graph.default_sink() : graph.default_source();
    std::vector<std::tuple<bool, uint32_t, uint32_t, uint32_t>> found;
    for (const auto& [id, port] : graph.ports()) {
        if (!side.pattern || !suits(port, side.output) || is_monitor(port) ||
            !std::regex_search(jack_name_of(port), *side.pattern))
            continue;
        const uint32_t node = number(get(port, PW_KEY_NODE_ID));
        found.emplace_back(graph.property(node, PW_KEY_NODE_NAME) != first, node, number(get(port, PW_KEY_PORT_ID)),
                           id);
    }
    std::sort(found.begin(), found.end());
    std::vector<uint32_t> ids;
    for (const auto& each : found)
        ids.push_back(std::get<3>(each));
    return ids;
}

} // namespace scs::cli
