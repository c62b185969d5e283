// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "cli/top/reply.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace scs::top {

/// A tree at about one moment.
struct Sample {
    ServerFigures server;
    std::vector<GroupEntry> groups; ///< each after the one that it is in
    std::vector<SynthsEntry> synths;
    bool whole = true; ///< false: nodes went so fast that some are missing
};

/// Asks for a sample, page by page. Knows no sockets: it is given what comes, and says what is to be sent.
class Query {
public:
    enum class Step {
        ignored, ///< the message was none for this query
        ask,     ///< packet() is to be sent now
        done,    ///< sample() is there
        failed,  ///< failure() says why
    };

    Query();
    /// To be sent at first, and again if nothing comes.
    const std::vector<std::byte>& packet() const { return packet_; }
    Step take(const osc::Message&);
    Sample& sample() { return sample_; }
    const std::string& failure() const { return failure_; }

private:
    Step take_page(Page&&);
    Step take_failure(const osc::Message&);
    Step fail(std::string why);
    void begin();
    void ask();

    std::vector<Place> places_; ///< that were asked for; empty: the whole tree
    std::vector<std::byte> packet_;
    Sample sample_;
    int pages_ = 0, restarts_ = 0;
    size_t name_bytes_ = 0; ///< in sample_
    std::string failure_;
};

} // namespace scs::top
