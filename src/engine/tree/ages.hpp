// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/nodes/node.hpp"

#include <array>

namespace scs {

/// Synths in the order of their ages, in a list for each AgeKind, linked through the synths. [rt]
class Ages {
public:
    /// Puts a synth into a list, as its newest, and takes it out of the one it was in. none: only that.
    void put(Synth& synth, AgeKind kind) noexcept {
        if (synth.aged != AgeKind::none) {
            List& old = list(synth.aged);
            (synth.older ? synth.older->newer : old.oldest) = synth.newer;
            (synth.newer ? synth.newer->older : old.newest) = synth.older;
            synth.older = synth.newer = nullptr;
            --old.count;
        }
        synth.aged = kind;
        if (kind == AgeKind::none)
            return;
        List& own = list(kind);
        synth.older = own.newest;
        (own.newest ? own.newest->newer : own.oldest) = &synth;
        own.newest = &synth;
        ++own.count;
    }

    Synth* newest(AgeKind kind) noexcept { return list(kind).newest; }
    Synth* oldest(AgeKind kind) noexcept { return list(kind).oldest; }
    int count(AgeKind kind) noexcept { return list(kind).count; }

private:
    struct List {
        Synth* oldest = nullptr;
        Synth* newest = nullptr;
        int count = 0;
    };
    List& list(AgeKind kind) noexcept { return lists_[size_t(kind) - 1]; }

    std::array<List, 3> lists_;
};

} // namespace scs
