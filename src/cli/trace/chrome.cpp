// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/trace/chrome.hpp"

#include "cli/top/json.hpp"

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <vector>

namespace scs::trace {

namespace {

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

std::string metadata(const char* name, int thread, const char* key, const std::string& value) {
    return "{\"ph\":\"M\",\"pid\":1,\"tid\":" + std::to_string(thread + 1) + ",\"name\":\"" + name + "\",\"args\":{\"" +
           key + "\":" + value + "}}";
}

std::string to_text(const Event& event) {
    const Look& look = looks[size_t(event.kind)];
    std::string text = "{\"ph\":\"X\",\"pid\":1,\"tid\":" + std::to_string(event.thread + 1) +
                       ",\"ts\":" + microseconds(event.began) + ",\"dur\":" + microseconds(event.nsec) + ",\"cat\":\"" +
                       categories[size_t(event.kind)] +
                       "\",\"name\":" + (look.name ? top::quoted(look.name) : top::quoted(event.name));
    if (look.count)
        text += std::string(",\"args\":{\"") + look.count + "\":" + std::to_string(event.count) + "}";
    return text + "}";
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
    std::string text = "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"dropped\":" + std::to_string(log.dropped) +
                       ",\"lost_pages\":" + std::to_string(log.lost_pages) + "},\"traceEvents\":[\n" +
                       metadata("process_name", 0, "name", top::quoted("pw-scsynth " + std::string(server)));
    for (int thread = 0; thread < log.threads; ++thread) {
        const std::string name = thread ? "helper " + std::to_string(thread) : "data loop";
        text += ",\n" + metadata("thread_name", thread, "name", top::quoted(name)) + ",\n" +
                metadata("thread_sort_index", thread, "sort_index", std::to_string(thread));
    }
    for (const size_t i : in_order(log.events)) {
        text += ",\n" + to_text(log.events[i]);
        if (text.size() >= piece) {
            if (!write(text))
                return false;
            text.clear();
        }
    }
    return write(text + "\n]}\n");
}

} // namespace scs::trace
