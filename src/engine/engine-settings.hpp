// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/result.hpp"
#include "engine/base/settings.hpp"

#include <string>

namespace scs {

// What is made of an engine's settings before it is made. [worker]

/// What is wrong with them; empty if nothing is.
std::string problem_with(const Settings&);
/// An error if the system lacks the memory that they ask for.
Error find_missing_memory(const Settings&);
/// The settings with the number of threads decided.
Settings with_threads(Settings);

} // namespace scs
