// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/result.hpp"
#include "osc/codec/decode.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace scs::trace {

enum class Kind : uint8_t { cycle, walk, signal, awake, job, write, wait };

/// What a thread did from one moment to another.
struct Event {
    int64_t began = 0; ///< ns from the recording's begin on
    int32_t nsec = 0;  ///< how long it took
    int32_t count = 0; ///< as docs/commands.md says
    uint16_t thread = 0;
    Kind kind = Kind::cycle;
    std::string name; ///< of a job's SynthDef
};

/// One /trace_read.reply.
struct Page {
    int32_t recording = 0, number = 0;
    bool on = false, more = false;
    int threads = 0, dropped = 0;
    std::vector<Event> events;
};

constexpr int most_threads = 1024;

Result<Page> parse_page(const osc::Message&);

} // namespace scs::trace
