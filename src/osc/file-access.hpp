// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/result.hpp"

#include <string>
#include <string_view>

namespace scs::osc {

/// [worker] The path that a file command may use: `path` itself when `restricted` is empty, otherwise its canonical
/// form (links and ".." resolved, relative to `restricted`) if that is at or below `restricted`. The file need not
/// exist. Error: "access denied".
Result<std::string> allowed_path(std::string_view path, const std::string& restricted);

} // namespace scs::osc
