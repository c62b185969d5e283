// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/node-properties.hpp"

#include "cli/client-name.hpp"
#include "names.hpp"
#include "settings.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace scs::cli {

namespace {

class Writer {
public:
    Writer(const CommandLine& line, const Environment& environment, const DaemonFacts& daemon)
        : line_(line), environment_(environment), daemon_(daemon), properties_(request_.properties) {}

    NodeRequest run() {
        properties_ = environment_.properties;
        for (const auto& [key, value] : {std::pair<const char*, const char*>{"factory.name", spa::factory_name},
                                         {"library.name", spa::library_name},
                                         {"scsynth.isolation", line_.in_this_process ? "process" : "loop"},
                                         // /quit may end it: this program asked for it
                                         {"scsynth.allow-quit", "true"}})
            properties_[key] = value;
        for (const auto& [key, value] : line_.settings)
            properties_[key] = value;
        if (!daemon_.quantum_limit.empty())
            properties_["clock.quantum-limit"] = daemon_.quantum_limit;
        properties_["scsynth.rate"] = daemon_.rate.empty() ? "48000" : daemon_.rate;
        if (line_.rate > 0) {
            properties_["scsynth.sample-rate"] = std::to_string(line_.rate);
            properties_.erase("node.rate");
        }
        if (line_.quantum > 0)
            properties_["node.latency"] = std::to_string(line_.quantum) + "/" +
                                          properties_[line_.rate > 0 ? "scsynth.sample-rate" : "scsynth.rate"];
        if (const auto loop = properties_.find("scsynth.loop"); loop != properties_.end() && daemon_.has_named_loops)
            properties_["node.loop.name"] = loop->second;
        set_devices();
        set_ports("scsynth.sink", "scsynth.outputs", "system:playback_", environment_.outputs, request_.outputs);
        set_ports("scsynth.source", "scsynth.inputs", "system:capture_", environment_.inputs, request_.inputs);
        set_name();
        return std::move(request_);
    }

private:
    bool is_device(const std::string& name) const { return !name.empty() && daemon_.has_node(name); }

    void set_devices() {
        const std::string& device = line_.device;
        const auto colon = device.find(':');
        if (device.empty()) {
            set_device("scsynth.sink", line_.out_device);
            set_device("scsynth.source", line_.in_device);
        } else if (is_device(device) || (colon == device.npos && is_like_a_device(device))) {
            set_device("scsynth.sink", device); // the name of one may have a colon itself
            set_device("scsynth.source", device);
        } else if (colon == device.npos) {
            take_for_name(device);
        } else if (colon == 0 || is_like_a_device(device.substr(0, colon)) ||
                   is_like_a_device(device.substr(colon + 1))) {
            set_device("scsynth.sink", device.substr(0, colon));
            set_device("scsynth.source", device.substr(colon + 1));
        } else {
            take_for_name(device.substr(colon + 1));
        }
    }

    /// Those of sound cards have points: alsa_output.pci-0000_00_1f.3.analog-stereo. It may be plugged in later.
    bool is_like_a_device(const std::string& name) const { return is_device(name) || name.find('.') != name.npos; }

    /// As scsynth, whose -H names the server of JACK, followed by a colon, and the client.
    void take_for_name(const std::string& name) {
        if (name.empty())
            return;
        name_ = name;
        request_.warnings.push_back(
            "-H: there is no device \"" + name +
            "\" now, so that is the name of the server's node; pw-scsynth --devices lists them");
    }

    /// The policy finds the device by that, now or later, and has the node say that it isn't there.
    void set_device(const char* key, const std::string& device) {
        if (!device.empty())
            properties_[key] = device;
    }

    /// What one of SC_JACK_DEFAULT_OUTPUTS and _INPUTS asks for, unless an option names the device.
    void set_ports(const char* key, const char* count, const std::string& system, const std::optional<PortList>& list,
                   std::optional<PortList>& to_link) {
        if (!list || properties_.contains(key))
            return;
        const auto channels = properties_.find(count);
        if (list->is_pattern && is_device(list->names[0])) {
            properties_[key] = list->names[0];
        } else if (channels == properties_.end() || !is_default(*list, system, std::atoi(channels->second.c_str()))) {
            properties_[key] = spa::no_device;
            if (list->names.empty())
                return;
            to_link = *list;
            if (!list->is_pattern && channels != properties_.end()) // JACK ignores names beyond the server's ports, too
                to_link->names.resize(
                    std::min(to_link->names.size(), size_t(std::max(0, std::atoi(channels->second.c_str())))));
        }
    }

    /// Whether the ports are those that the policy links a server to, which then also follows when the default changes.
    static bool is_default(const PortList& list, const std::string& system, int channels) {
        if (list.names.empty() || int(list.names.size()) < channels)
            return false;
        for (size_t i = 0; i < list.names.size(); ++i)
            if (list.names[i] != system + std::to_string(i + 1))
                return false;
        return true;
    }

    void set_name() {
        std::string wanted = properties_["scsynth.name"];
        for (const std::string& other : {name_, properties_["node.name"]})
            if (wanted.empty())
                wanted = other;
        properties_.erase("scsynth.name");
        properties_.erase("node.name");
        if (wanted.empty()) {
            if (!properties_.contains("node.description"))
                properties_["node.description"] = daemon_.free_name(jack_name);
            return;
        }
        const std::string name = daemon_.free_name(wanted);
        if (name != wanted)
            request_.warnings.push_back("another node is called \"" + wanted + "\", so this one is \"" + name + "\"");
        properties_["scsynth.name"] = name;
    }

    const CommandLine& line_;
    const Environment& environment_;
    const DaemonFacts& daemon_;
    NodeRequest request_;
    std::map<std::string, std::string>& properties_;
    std::string name_; ///< that -H gives
};

} // namespace

NodeRequest node_request(const CommandLine& line, const Environment& environment, const DaemonFacts& daemon) {
    NodeRequest request = Writer(line, environment, daemon).run();
    request.warnings.insert(request.warnings.begin(), environment.warnings.begin(), environment.warnings.end());
    return request;
}

} // namespace scs::cli
