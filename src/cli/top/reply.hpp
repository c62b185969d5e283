// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/result.hpp"
#include "osc/codec/decode.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace scs::top {

/// The server as a whole. docs/commands.md describes the reply of /g_queryCost.
struct ServerFigures {
    int block_frames = 0;
    double rate = 0;                      ///< Hz
    double load = 0, peak = 0, limit = 0; ///< % of a cycle; limit 0: none
    int longest_block = 0;                ///< ns, of the last minute; 0: none was timed
    int threads = 0, synths = 0, groups = 0;
    int cuts = 0, ended = 0, paused = 0;

    /// ns that a block sounds; 0 if the rate makes no sense.
    double block_nsec() const { return rate > 0 ? 1e9 * block_frames / rate : 0; }
};

struct GroupEntry {
    int32_t id = 0, parent = 0;
    bool runs = false;
};

/// Neighbours in a group, of one SynthDef.
struct SynthsEntry {
    int32_t group = 0;
    std::string name;
    int running = 0, paused = 0;
    bool native = false;
    int batches = 0;
    int cost = 0; ///< ns that one of them takes for a block, as measured; 0: not yet
};

struct Place {
    int32_t id = 0;
    bool behind = false; ///< what is in it has been told
    bool operator==(const Place&) const = default;
};

struct Page {
    int32_t group = 0; ///< that was asked for
    Place begins;
    ServerFigures server;
    std::vector<GroupEntry> groups;
    std::vector<SynthsEntry> synths;
    std::vector<Place> next; ///< empty: it is the last page
};

/// Reads a /g_queryCost.reply. Error: it isn't as documented.
Result<Page> parse_page(const osc::Message&);

} // namespace scs::top
