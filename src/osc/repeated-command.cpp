// SPDX-License-Identifier: GPL-3.0-or-later
#include "osc/repeated-command.hpp"

#include "engine/base/text-line.hpp"
#include "engine/engine.hpp"
#include "osc/status-text.hpp"

namespace scs::osc {

bool RepeatedCommand::go_on() noexcept {
    if (!running_)
        return true;
    Engine& engine = *services().engine;
    const Status status = spec().handler(*this, engine);
    running_ = goes_on();
    if (!running_)
        tell(status, engine);
    return !running_;
}

/// Logs the first of failures that follow one another: there may be one in each block.
void RepeatedCommand::tell(Status status, Engine& engine) noexcept {
    if (std::exchange(told_, status.failed()) || status.ok())
        return;
    TextLine line;
    line.add("%s: %s: ", whose_.c_str(), name());
    if (status.code == Code::failed && literal())
        line.add("%s", literal());
    else
        add_status(line, status);
    line.add("\n");
    engine.outbox().complain(line.take());
}

} // namespace scs::osc
