// SPDX-License-Identifier: GPL-3.0-or-later
#include "bridge.hpp"

#include "engine/base/printable.hpp"

#include <cstdint>
#include <iterator>
#include <utility>

namespace scs::spa {
namespace {

/// The log topic, one for all nodes of the process.
spa_log_topic the_topic{SPA_VERSION_LOG_TOPIC, "spa.scsynth", SPA_LOG_LEVEL_NONE, false};

/// Before PipeWire 1.1 the first node's log sets its level, and does nothing since then.
const spa_log_topic* topic(spa_log* log) {
    [[maybe_unused]] static const bool asked = [log] {
        spa_log_topic_init(log, &the_topic);
        return true;
    }();
    return &the_topic;
}

spa_log_topic* const topics[] = {&the_topic};

} // namespace

void Bridge::set_event(spa_source* event) {
    const std::lock_guard lock(mutex_);
    event_ = event;
}

void Bridge::close() {
    const std::lock_guard lock(mutex_);
    log_ = nullptr;
    event_ = nullptr;
}

// PipeWire's loggers may be called from any thread at levels up to debug; only their trace level keeps a ring
// that has room for one writer.
void Bridge::log(spa_log_level level, const std::string& text) {
    const std::string escaped = is_printable(text) ? std::string() : printable(text);
    const std::lock_guard lock(mutex_);
    if (log_)
        spa_log_logt(log_, level, topic(log_), __FILE__, __LINE__, __func__, "%s",
                     escaped.empty() ? text.c_str() : escaped.c_str());
}

void Bridge::report_state(const std::string& state) {
    const std::lock_guard lock(mutex_);
    news_.state = state;
    signal();
}

void Bridge::report_quit() {
    const std::lock_guard lock(mutex_);
    news_.quit = true;
    signal();
}

void Bridge::report_roused() {
    const std::lock_guard lock(mutex_);
    news_.roused = true;
    signal();
}

void Bridge::signal() {
    if (event_)
        spa_loop_utils_signal_event(utils_, event_);
}

Bridge::News Bridge::take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(news_, {});
}

} // namespace scs::spa

#ifndef SPA_VERSION_LOG_TOPIC_ENUM
#define SPA_VERSION_LOG_TOPIC_ENUM 0
/// A library that was built for PipeWire before 1.1, which has no such type, may run with a later one.
struct spa_log_topic_enum {
    uint32_t version;
    spa_log_topic* const* topics;
    spa_log_topic* const* topics_end;
};
#endif

/// Where PipeWire finds the topics of the library, to set their levels at any time. Since 1.1.
extern "C" __attribute__((visibility("default"))) const struct spa_log_topic_enum spa_log_topic_enum = {
    SPA_VERSION_LOG_TOPIC_ENUM, std::begin(scs::spa::topics), std::end(scs::spa::topics)};
