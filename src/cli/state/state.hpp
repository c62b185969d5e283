// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "cli/top/server-options.hpp"
#include "engine/base/result.hpp"

#include <functional>
#include <span>
#include <string>

namespace scs::state {

struct Options : top::ServerOptions {
    std::string path; ///< absolute
};

/// Reads the arguments of `pw-scsynth save` or `restore`. An error is a sentence.
Result<Options> parse_options(std::span<const char* const> arguments);

std::string save_help_text();
std::string restore_help_text();

/// Has the server write what it has to the file, or make it anew from there, and waits until that is done.
/// `elsewhere`: which servers there are, in lines. Errors: what the server says; a signal.
Result<bool> save(const Options&, const std::function<std::string()>& elsewhere);
Result<bool> restore(const Options&, const std::function<std::string()>& elsewhere);

} // namespace scs::state
