// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/trace/chrome.hpp"

#include "cli/top/json-writer.hpp"

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <vector>

namespace scs::trace {

namespace {

using top::JsonWriter;

constexpr size_t piece = 65536; // bytes at once, about

struct Look {
    const char* name;  ///< null: the job's own
    const char* count; ///< what it is called among the arguments; null: it says nothing
};

/// By Kind.
constexpr Look looks[] = {{"cycle", "frames"}, {"block", "block"}, {"signal", nullptr}, {"awake", nullptr},
                          {nullptr, "voices"}, {"write", "jobs"},  {"wait", nullptr}};
constexpr const char* categories[] = {"cycle", "walk", "signal", "awake", "job", "write", "wait"};

/// µs with all that the ns say.
std::string microseconds(int64_t nsec) {
    char text[32];
    const int size =
        std::snprintf(text, sizeof text, "%lld.%03d", static_cast<long long>(nsec / 1000), int(nsec % 1000));
    return {text, size_t(size)};
}

/// The thread's number, as of all that is said of it.
JsonWriter& begin(JsonWriter& json, const char* phase, int thread) {
    json.new_line().begin_object().key("ph").string(phase).key("pid").number(int64_t(1));
    return json.key("tid").number(int64_t(thread + 1));
}

/// Metadata, up to its value.
JsonWriter& begin_metadata(JsonWriter& json, const char* name, int thread, const char* key) {
    return begin(json, "M", thread).key("name").string(name).key("args").begin_object().key(key);
}

void add(JsonWriter& json, const Event& event) {
    const Look& look = looks[size_t(event.kind)];
    begin(json, "X", event.thread).key("ts").literal(microseconds(event.began));
    json.key("dur").literal(microseconds(event.nsec)).key("cat").string(categories[size_t(event.kind)]);
    json.key("name").string(look.name ? look.name : event.name);
    if (look.count)
        json.key("args").begin_object().key(look.count).number(int64_t(event.count)).end_object();
    json.end_object();
}

/// Where events of a thread begin at once, the longer one is around the other; of equal ones the one that was recorded
/// last, as what is within ends first.
std::vector<size_t> in_order(const std::vector<Event>& events) {
    std::vector<size_t> order(events.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](size_t left, size_t right) {
        const Event &a = events[left], &b = events[right];
        if (a.thread != b.thread)
            return a.thread < b.thread;
        if (a.began != b.began)
            return a.began < b.began;
        return a.nsec != b.nsec ? a.nsec > b.nsec : left > right;
    });
    return order;
}

} // namespace

bool write_chrome_trace(const Log& log, std::string_view server, const std::function<bool(std::string_view)>& write) {
    JsonWriter json;
    json.begin_object().key("displayTimeUnit").string("ns").key("otherData").begin_object();
    json.key("dropped").number(int64_t(log.dropped)).key("lost_pages").number(int64_t(log.lost_pages)).end_object();
    json.key("traceEvents").begin_list();
    begin_metadata(json, "process_name", 0, "name").string("pw-scsynth " + std::string(server));
    json.end_object().end_object();
    for (int thread = 0; thread < log.threads; ++thread) {
        const std::string name = thread ? "helper " + std::to_string(thread) : "data loop";
        begin_metadata(json, "thread_name", thread, "name").string(name).end_object().end_object();
        begin_metadata(json, "thread_sort_index", thread, "sort_index").number(int64_t(thread));
        json.end_object().end_object();
    }
    for (const size_t i : in_order(log.events)) {
        add(json, log.events[i]);
        if (json.size() >= piece && !write(json.take()))
            return false;
    }
    json.new_line().end_list().end_object();
    return write(json.take() + "\n");
}

} // namespace scs::trace
