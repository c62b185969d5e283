// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace scs {

/// What has to be known of a shared library before it is loaded.
struct ElfFacts {
    std::string problem;           ///< why it can't be one for this machine, in words; empty: it may be
    bool seeks_companions = false; ///< it looks for other files beside itself, so it works only where it lies
};

/// [any] Judges the bytes of a whole file, whatever they are. A pure function.
ElfFacts read_elf(std::span<const std::byte> file);

} // namespace scs
