// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

namespace scs {

/// What came of loading a plugin file in a process of its own.
struct ProbeResult {
    enum Kind {
        harmless, ///< it was loaded, or its version of the API is another one
        missing,  ///< it can't be loaded for now: a library that it needs isn't there, for example
        harmful,  ///< it ended the process, or took too long; `what` says which
        unknown,  ///< there is no such process; `what` says why
    };
    Kind kind = unknown;
    std::string what;
};

/// [worker] Has the program pw-scsynth-probe load these files, as a server would. A result for each. Waits at most 10 s
/// for each file. The environment's SCS_UGEN_PROBE may name another program.
std::vector<ProbeResult> probe_plugins(const std::vector<std::string>& files);

/// What the program writes to the descriptor `probe_output` about the file whose number in its arguments follows, a
/// line each: it begins to load it; it did so; it can't be loaded; an exception came out of it.
inline constexpr char probe_begins = 'b', probe_ends = 'e', probe_lacks = 'l', probe_throws = 't';
inline constexpr int probe_output = 3;

} // namespace scs
