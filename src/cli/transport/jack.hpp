// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "cli/transport/timeline.hpp"
#include "engine/base/result.hpp"

#include <memory>

namespace scs::transport {

/// A JACK client of PipeWire that tells beats to all others: the transport's master.
class Jack {
public:
    /// An error is a sentence. `tempo`: beats a second.
    static Result<std::unique_ptr<Jack>> open(double tempo, int beats_per_bar);
    virtual ~Jack() = default;

    virtual void start() = 0;
    virtual void stop() = 0;
    /// false: the beat is too far away.
    virtual bool locate(double beat) = 0;
    virtual void set_tempo(double beats_a_second) = 0;
    /// PipeWire has ended.
    virtual bool gone() const = 0;
};

} // namespace scs::transport
