// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "cli/status/contents.hpp"
#include "cli/top/reader.hpp"
#include "osc/codec/decode.hpp"
#include "osc/codec/reply-record.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace scs::status {

/// Asks for all that a server has, list by list and page by page. Knows no sockets: its
/// user sends what it asks for and gives it what comes.
class Query {
public:
    enum class Step {
        ignored, ///< the message was none for this query
        ask,     ///< the next request is to be sent now
        done,    ///< contents() are there
        failed,  ///< failure() says why
    };

    /// The request: to be sent at first, and again if nothing comes.
    const char* address() const;
    std::vector<osc::ReplyArg> arguments() const;

    Step take(const osc::Message&);
    Contents& contents() { return contents_; }
    const std::string& failure() const { return failure_; }

private:
    using Numbers = std::vector<int32_t>;

    bool of_nodes() const;
    bool expects(const Numbers& begins) const;
    bool skipped(const Numbers& begins) const;
    Step take_page(top::Reader&);
    Step take_failure(const osc::Message&);
    Step go_on(Numbers next);
    Step begin_again();
    Step next_list();
    Step fail(std::string why);
    void read_entry(top::Reader&, Numbers& next);
    void read_next(top::Reader&, Numbers& next);
    void read_figures(top::Reader&);

    size_t list_ = 0;        ///< which one is asked for
    Numbers places_;         ///< "next" of the page before
    std::string place_name_; ///< the SynthDef there, if it tells one
    int pages_ = 0, restarts_ = 0;
    Contents contents_;
    std::string failure_;
};

} // namespace scs::status
