// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "cli/trace/options.hpp"
#include "engine/base/result.hpp"

#include <functional>
#include <string>

namespace scs::trace {

/// Records a server and writes the file. Returns what is in it, in a sentence. `elsewhere` says which servers there are
/// besides, in lines for the user; it is asked only if none answers. An error is a sentence.
Result<std::string> run(const Options&, const std::function<std::string()>& elsewhere);

} // namespace scs::trace
