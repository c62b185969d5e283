// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/result.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace scs::spa {

/// The names of `count` outputs: "d1 L; d1 R", or a list of SPA-JSON: [ "d1 L" "d1 R" ]. Outputs beyond the list, and
/// those with an empty name, are out_1, out_2 … The error has the name that can't be a port's. [any but rt]
Result<std::vector<std::string>> read_port_names(std::string_view text, size_t count);

/// How many names are in such a text. [any but rt]
size_t count_port_names(std::string_view text);

/// What names read_port_names() takes, for errors. [any but rt]
std::string port_name_choices();

} // namespace scs::spa
