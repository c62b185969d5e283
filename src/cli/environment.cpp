// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/environment.hpp"

#include "module/properties.hpp"

#include <algorithm>
#include <cstdio>
#include <string_view>

namespace scs::cli {

namespace {

/// A text such as "{ node.name = piece media.role = Music }".
std::map<std::string, std::string> read_properties(const char* text) {
    std::map<std::string, std::string> found;
    const module::Properties properties(pw_properties_new_string(text));
    if (!properties)
        return found;
    const spa_dict_item* item;
    spa_dict_for_each(item, &properties->dict) found[item->key] = item->value;
    return found;
}

/// What decides which node is made, and how long it lives: not the user's to change.
bool makes_the_node(const std::string& key) {
    return key == "factory.name" || key == "library.name" || key == "object.linger" || key == "clock.quantum-limit";
}

class Reader {
public:
    explicit Reader(const std::function<const char*(const char*)>& variable) : variable_(variable) {}

    Environment run() {
        if (const char* text = variable_("PIPEWIRE_NODE"); text && *text)
            set("target.object", text);
        if (const char* text = variable_("PIPEWIRE_AUTOCONNECT"))
            set("scsynth.autoconnect",
                std::string_view(text) == "true" || std::string_view(text) == "1" ? "true" : "false");
        if (const char* text = variable_("PIPEWIRE_PROPS"))
            read_given(text);
        read_quantum();
        if (const char* text = variable_("PIPEWIRE_LATENCY"); text && is_fraction("PIPEWIRE_LATENCY", text))
            set("node.latency", text);
        if (const char* text = variable_("PIPEWIRE_RATE"); text && is_fraction("PIPEWIRE_RATE", text))
            set("node.rate", text);
        made_.outputs = ports("SC_JACK_DEFAULT_OUTPUTS");
        made_.inputs = ports("SC_JACK_DEFAULT_INPUTS");
        return std::move(made_);
    }

private:
    void set(const std::string& key, const std::string& value) { made_.properties[key] = value; }

    void warn(const std::string& text) { made_.warnings.push_back(text); }

    void read_given(const char* text) {
        for (const auto& [key, value] : read_properties(text))
            if (key.starts_with("scsynth."))
                warn("PIPEWIRE_PROPS: " + key + " has no effect there; --set takes it");
            else if (!makes_the_node(key))
                set(key, value);
    }

    void read_quantum() {
        const char* text = variable_("PIPEWIRE_QUANTUM");
        if (!text || !is_fraction("PIPEWIRE_QUANTUM", text))
            return;
        const std::string_view fraction = text;
        const auto slash = fraction.find('/');
        set("node.force-quantum", std::string(fraction.substr(0, slash)));
        set("node.force-rate", std::string(fraction.substr(slash + 1)));
    }

    bool is_fraction(const char* name, const char* text) {
        unsigned over = 0, under = 0;
        char more = 0;
        if (std::sscanf(text, "%u/%u%c", &over, &under, &more) == 2 && over > 0 && under > 0)
            return true;
        warn(std::string(name) + "=" + text + " has no effect: expected two numbers, such as 256/48000");
        return false;
    }

    std::optional<PortList> ports(const char* name) const {
        const char* text = variable_(name);
        if (!text || std::string_view(text) == "system")
            return {};
        PortList list;
        for (std::string_view rest = text; !rest.empty();) {
            const auto comma = std::min(rest.find(','), rest.size());
            list.names.emplace_back(rest.substr(0, comma));
            rest.remove_prefix(std::min(comma + 1, rest.size()));
        }
        list.is_pattern = list.names.size() == 1 && list.names[0].find(':') == std::string::npos;
        return list;
    }

    const std::function<const char*(const char*)>& variable_;
    Environment made_;
};

} // namespace

Environment read_environment(const std::function<const char*(const char*)>& variable) {
    return Reader(variable).run();
}

} // namespace scs::cli
