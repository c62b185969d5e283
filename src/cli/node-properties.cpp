// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/node-properties.hpp"

namespace scs::cli {

namespace {

class Writer {
public:
    Writer(const CommandLine& line, const DaemonFacts& daemon) : line_(line), daemon_(daemon) {}

    NodeRequest run() {
        auto& properties = request_.properties;
        properties = {{"factory.name", "audio.scsynth"},
                      {"library.name", "scsynth/libspa-scsynth"},
                      {"scsynth.isolation", line_.in_this_process ? "process" : "loop"},
                      // /quit may end it: this program asked for it
                      {"scsynth.allow-quit", "true"}};
        for (const auto& [key, value] : line_.settings)
            properties[key] = value;
        if (!daemon_.quantum_limit.empty())
            properties["clock.quantum-limit"] = daemon_.quantum_limit;
        properties["scsynth.rate"] = daemon_.rate.empty() ? "48000" : daemon_.rate;
        if (line_.rate > 0)
            properties["scsynth.sample-rate"] = std::to_string(line_.rate);
        if (line_.quantum > 0)
            properties["node.latency"] = std::to_string(line_.quantum) + "/" +
                                         properties[line_.rate > 0 ? "scsynth.sample-rate" : "scsynth.rate"];
        if (const auto loop = properties.find("scsynth.loop"); loop != properties.end() && daemon_.has_named_loops)
            properties["node.loop.name"] = loop->second;
        set_devices();
        return std::move(request_);
    }

private:
    void set_devices() {
        const std::string& device = line_.device;
        const auto colon = device.find(':');
        if (device.empty()) {
            set_device("scsynth.sink", line_.out_device);
            set_device("scsynth.source", line_.in_device);
        } else if (colon == device.npos || !daemon_.find_node(device).empty()) { // a name may have a colon itself
            set_device("scsynth.sink", device);
            request_.properties["scsynth.source"] = request_.properties["scsynth.sink"];
        } else {
            set_device("scsynth.sink", device.substr(0, colon));
            set_device("scsynth.source", device.substr(colon + 1));
        }
    }

    /// The name of a device that isn't there is passed on, too: it may come later.
    void set_device(const char* key, const std::string& device) {
        if (device.empty())
            return;
        std::string name = daemon_.find_node(device);
        if (name.empty()) {
            request_.warnings.push_back("-H: there is no node \"" + device +
                                        "\" now, the default device is used; wpctl status lists them");
            name = device;
        }
        request_.properties[key] = name;
    }

    const CommandLine& line_;
    const DaemonFacts& daemon_;
    NodeRequest request_;
};

} // namespace

NodeRequest node_request(const CommandLine& line, const DaemonFacts& daemon) {
    return Writer(line, daemon).run();
}

} // namespace scs::cli
