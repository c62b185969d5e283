// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/devices.hpp"

#include "engine/base/printable.hpp"
#include "settings.hpp"

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <tuple>

namespace scs::cli {

namespace {

std::string value(const NodeProperties& node, std::initializer_list<const char*> keys) {
    for (const char* key : keys)
        if (const auto found = node.find(key); found != node.end() && !found->second.empty())
            return found->second;
    return {};
}

std::string lower(std::string_view text) {
    std::string made(text);
    std::transform(made.begin(), made.end(), made.begin(), [](unsigned char c) { return char(std::tolower(c)); });
    return made;
}

bool is_device(std::string_view media_class) {
    return media_class.starts_with("Audio/");
}

/// "[ FL, FR ]" as "FL,FR".
std::string as_list(const std::string& position) {
    std::string made;
    bool between = false;
    for (const char c : position) {
        const bool separates = c == ' ' || c == ',' || c == '[' || c == ']' || c == '"';
        if (!separates && between && !made.empty())
            made += ',';
        if (!separates)
            made += c;
        between = separates;
    }
    return made;
}

} // namespace

std::vector<Device> devices_in(const std::vector<NodeProperties>& nodes) {
    std::vector<Device> found;
    for (const NodeProperties& node : nodes) {
        const std::string media_class = value(node, {"media.class"});
        const bool both = media_class.find("Duplex") != media_class.npos;
        if (!is_device(media_class))
            continue;
        Device device;
        device.name = value(node, {"node.name"});
        device.description = value(node, {"node.description", "node.nick", "node.name"});
        device.position = as_list(value(node, {"audio.position"}));
        for (const bool is_sink : {true, false})
            if (both || media_class.find(is_sink ? "Sink" : "Source") != media_class.npos) {
                device.is_sink = is_sink;
                found.push_back(device);
            }
    }
    for (Device& device : found) {
        const auto alike = std::count_if(found.begin(), found.end(), [&](const Device& other) {
            return other.is_sink == device.is_sink && other.description == device.description;
        });
        device.call = alike == 1 ? device.description : device.name;
    }
    std::sort(found.begin(), found.end(), [](const Device& a, const Device& b) {
        return std::tie(b.is_sink, a.description, a.name) < std::tie(a.is_sink, b.description, b.name);
    });
    return found;
}

bool names_node(std::string_view text, const NodeProperties& node, const NodeProperties& card) {
    if (text.empty() || text == spa::no_device)
        return false;
    if (value(node, {"node.name"}) == text || value(node, {"object.serial"}) == text)
        return true;
    if (!is_device(value(node, {"media.class"})))
        return false;
    const std::string part = lower(text);
    for (const NodeProperties* properties : {&node, &card})
        for (const char* key :
             {"node.name", "node.nick", "node.description", "device.name", "device.nick", "device.description",
              "alsa.card_name", "alsa.long_card_name", "api.alsa.card.name", "api.alsa.card.longname"})
            if (lower(value(*properties, {key})).find(part) != std::string::npos)
                return true;
    return false;
}

std::string device_lines(const std::vector<Device>& devices) {
    std::string lines;
    for (const Device& device : devices)
        lines += std::string(device.is_sink ? "sink" : "source") + "\t" + printable(device.call) + "\t" +
                 printable(device.name) + "\t" + printable(device.position) + "\n";
    return lines;
}

} // namespace scs::cli
