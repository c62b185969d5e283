// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "cli/command-line.hpp"

#include <cstdint>

namespace scs::cli {

/// Renders a score to a sound file as `scsynth -N` does, with the line's settings. What the engine says goes to
/// standard output, the progress to standard error if that is a terminal. Returns the number of frames written.
/// Errors name the file, and the place in a score. What was rendered before an error stays in the output file.
Result<uint64_t> render_score_file(const CommandLine& line);

} // namespace scs::cli
