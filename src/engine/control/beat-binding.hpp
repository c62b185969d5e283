// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/control/beats.hpp"

#include <cstdint>

namespace scs {

/// Where beats come from, and go.
struct BeatSettings {
    BeatOrigin from;
    int bus = 0; ///< the first one
};

/// Sets control buses to beats: in each block to what there is at its first frame, the beat in its bar, the tempo in
/// beats a second, 1 while it plays, the bar. Beat and bar together are exact where a float of all beats wouldn't be.
/// [rt], after construction.
class BeatBinding final : public Binding {
public:
    static constexpr int buses = 4; ///< one after the other

    /// [worker]
    BeatBinding(int32_t id, const BeatSettings& settings) noexcept
        : Binding(id, settings.from.source), bus_(settings.bus), follower_(settings.from) {}

    void handle(const ControlEvent&, BindingTargets&) noexcept override;
    void end(BindingTargets&) noexcept override {}
    int64_t cost() const noexcept override { return 50; }
    bool in_each_block() const noexcept override { return true; }
    void begin_block(const BlockStart&, BindingTargets&) noexcept override;

private:
    const int bus_;
    BeatFollower follower_;
};

} // namespace scs
