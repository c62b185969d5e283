// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/settings.hpp"
#include "engine/voices/bus-range.hpp"

#include <vector>

namespace scs {

/// Finds out from when on a voice that reads buses may be computed: once all those have written that have their turns
/// before it and write what it reads. Turns are told in their order. A moment is told by how many jobs' turns have
/// begun by then: what had its turn before the last of these has written. [rt], after construction.
class Gates {
public:
    explicit Gates(const Settings&); // [worker]

    void begin_block() noexcept {
        ++block_;
        any_ = everything_ = 0;
    }
    /// Something writes these that has written `then`, not 0.
    void write(const NativeCode::BusUse&, BusRange, size_t then) noexcept;
    /// The same, but it can't be told which.
    void write_unknown(size_t then) noexcept { any_ = everything_ = then; }
    /// From when on these can be read. 0: at once.
    size_t read(const NativeCode::BusUse&, BusRange) const noexcept;

private:
    struct Written {
        uint32_t block;
        uint32_t then;
    };
    std::vector<Written> audio_, control_; ///< each bus: the last block in which it is written, and then
    uint32_t block_ = 0;
    size_t any_ = 0;        ///< behind the last that writes anything
    size_t everything_ = 0; ///< behind the last that may write everything
};

} // namespace scs
