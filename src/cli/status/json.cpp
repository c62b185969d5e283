// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/status/json.hpp"

#include "cli/top/json-writer.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <variant>

namespace scs::status {

namespace {

class Document {
public:
    Document(const Contents& contents, const Surroundings& around) : contents_(contents), around_(around) {}

    std::string write(const std::string& host, int port) {
        json_.begin_object();
        json_.key("host").string(host);
        json_.key("port").number(int64_t(port));
        add_server();
        json_.key("whole").boolean(contents_.whole);
        list("nodes", contents_.nodes, [this](const Node& node) { add(node); });
        list("synthdefs", contents_.synthdefs, [this](const SynthDef& each) { add(each); });
        list("buffers", contents_.buffers, [this](const Buffer& buffer) { add(buffer); });
        list("bindings", contents_.bindings, [this](const Binding& binding) { add(binding); });
        add_surroundings();
        json_.end_object();
        return json_.take();
    }

private:
    void add_server() {
        json_.key("server").begin_object();
        for (const auto& [name, figure] : contents_.figures) {
            std::string key = name;
            std::replace(key.begin(), key.end(), '-', '_');
            json_.key(key);
            add(figure);
        }
        json_.end_object();
    }
    template <class T, class Add>
    void list(std::string_view key, const std::vector<T>& items, Add add_item) {
        json_.key(key).begin_list();
        for (const T& item : items) {
            json_.new_line().begin_object();
            add_item(item);
            json_.end_object();
        }
        json_.end_list();
    }
    void add(const Value& value) {
        if (const auto* text = std::get_if<std::string>(&value))
            json_.string(*text);
        else if (const auto* whole = std::get_if<int32_t>(&value))
            json_.number(int64_t(*whole));
        else if (const auto* real = std::get_if<float>(&value))
            json_.exact(*real);
        else
            json_.exact(std::get<double>(value));
    }
    void add(const std::vector<Control>& controls, const char* key) {
        json_.key("controls").begin_list();
        for (size_t i = 0; i < controls.size(); ++i) {
            json_.begin_object().key("index").number(int64_t(i));
            json_.key("name");
            controls[i].name.empty() ? json_.null() : json_.string(controls[i].name);
            json_.key(std::holds_alternative<std::string>(controls[i].value) ? "bus" : key);
            add(controls[i].value);
            json_.end_object();
        }
        json_.end_list();
    }
    void add(const Node& node) {
        json_.key("id").number(int64_t(node.id));
        json_.key("type").string(node.is_group ? "group" : "synth");
        json_.key("parent");
        node.parent < 0 && node.id == 0 ? json_.null() : json_.number(int64_t(node.parent));
        json_.key("running").boolean(node.runs);
        if (node.is_group) {
            json_.key("parallel").boolean(node.parallel);
            return;
        }
        json_.key("synthdef").string(node.synthdef);
        add(node.controls, "value");
    }
    void add(const SynthDef& each) {
        json_.key("name").string(each.name);
        json_.key("synths").number(int64_t(each.synths));
        json_.key("units").number(int64_t(each.units));
        json_.key("native").boolean(each.native);
        add(each.controls, "default");
    }
    void add(const Buffer& buffer) {
        json_.key("number").number(int64_t(buffer.number));
        json_.key("frames").number(int64_t(buffer.frames));
        json_.key("channels").number(int64_t(buffer.channels));
        json_.key("rate").exact(buffer.rate);
        json_.key("streams").boolean(buffer.streams);
    }
    void add(const Binding& binding) {
        json_.key("id").number(int64_t(binding.id));
        json_.key("command");
        add(binding.words.empty() ? Value("") : binding.words[0]);
        json_.key("arguments").begin_list();
        for (size_t i = 1; i < binding.words.size(); ++i)
            add(binding.words[i]);
        json_.end_list();
    }
    void add_surroundings() {
        json_.key("pipewire");
        if (!around_.known) {
            json_.null();
            return;
        }
        json_.begin_object();
        json_.key("node").string(around_.node);
        json_.key("driver").string(around_.driver);
        list("devices", around_.devices, [this](const Surroundings::Device& device) {
            json_.key("type").string(device.is_sink ? "sink" : "source");
            json_.key("name").string(device.name);
            json_.key("description").string(device.description);
            json_.key("channels").string(device.channels);
        });
        json_.end_object();
    }

    const Contents& contents_;
    const Surroundings& around_;
    top::JsonWriter json_;
};

} // namespace

std::string to_json(const Contents& contents, const Surroundings& around, const std::string& host, int port) {
    return Document(contents, around).write(host, port);
}

} // namespace scs::status
