// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/plugins/plugin-world.hpp"

namespace scs {

/// How many nodes and units there are. [rt]
class NodeCounts {
public:
    explicit NodeCounts(PluginWorld& world) noexcept : world_(world) {}

    // To be called at every change, as units may ask for the counts at any moment of a block. `sign`: 1 or -1.

    void count_synth(int64_t units, int sign) noexcept {
        synths_ += sign;
        units_ += sign * units;
        tell();
    }
    void count_group(int sign) noexcept {
        groups_ += sign;
        tell();
    }

    int synths() const noexcept { return synths_; }
    int groups() const noexcept { return groups_; }
    int64_t units() const noexcept { return units_; }

private:
    void tell() noexcept { world_.set_counts(units_, synths_, groups_); }

    PluginWorld& world_;
    int synths_ = 0, groups_ = 0;
    int64_t units_ = 0;
};

} // namespace scs
