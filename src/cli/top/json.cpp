// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/top/json.hpp"

#include "engine/base/printable.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <string_view>

namespace scs::top {

namespace {

/// Independent of the locale.
std::string number(double value) {
    std::array<char, 32> text;
    const auto end = std::to_chars(text.data(), text.data() + text.size(), std::isfinite(value) ? value : 0,
                                   std::chars_format::general, 6);
    return {text.data(), end.ptr};
}

class Object {
public:
    Object& add(const char* key, std::string value) {
        text_ += text_.empty() ? "{" : ", ";
        text_ += quoted(key) + ": " + value;
        return *this;
    }
    Object& add(const char* key, double value) { return add(key, number(value)); }
    Object& add(const char* key, int64_t value) { return add(key, std::to_string(value)); }
    Object& add(const char* key, int value) { return add(key, int64_t(value)); }
    Object& add(const char* key, bool value) { return add(key, std::string(value ? "true" : "false")); }
    std::string text() const { return text_ + "}"; }

private:
    std::string text_;
};

template <class Items, class ToText>
std::string list(const Items& items, ToText to_text) {
    std::string text = "[";
    for (const auto& item : items)
        text += (text.size() > 1 ? ", " : "") + to_text(item);
    return text + "]";
}

void add_sums(Object& object, const Model& model, const Sums& sums) {
    object.add("cost", model.percent(sums.nsec))
        .add("estimated", sums.estimated)
        .add("unmeasured", sums.unmeasured)
        .add("running", sums.running)
        .add("paused", sums.paused)
        .add("batches", sums.batches);
}

} // namespace

std::string quoted(std::string_view text) {
    std::string made = "\"";
    for (const char c : printable(text)) {
        if (c == '"' || c == '\\')
            made += '\\';
        made += c;
    }
    return made + '"';
}

std::string to_json(const Model& model, const std::string& host, int port) {
    const ServerFigures& server = model.server;
    Object object;
    object.add("host", quoted(host))
        .add("port", port)
        .add("block", server.block_frames)
        .add("rate", server.rate)
        .add("load", server.load)
        .add("peak", server.peak)
        .add("limit", server.limit > 0 ? number(server.limit) : "null")
        .add("worst_block", server.longest_block ? number(model.percent(server.longest_block)) : "null")
        .add("threads", server.threads)
        .add("synths", server.synths)
        .add("group_count", server.groups)
        .add("cuts", server.cuts)
        .add("ended", server.ended)
        .add("paused", server.paused)
        .add("whole", model.whole)
        .add("groups", list(model.groups, [&](const GroupLine& group) {
                 Object line;
                 line.add("id", int64_t(group.id))
                     .add("parent", group.depth ? std::to_string(model.groups[group.parent].id) : "null")
                     .add("runs", group.runs);
                 add_sums(line, model, group.all);
                 line.add("synthdefs", list(group.defs, [&](const DefLine& def) {
                              Object each;
                              add_sums(each.add("name", quoted(def.name)), model, def.sums);
                              return each.text();
                          }));
                 return line.text();
             }));
    return object.text();
}

} // namespace scs::top
