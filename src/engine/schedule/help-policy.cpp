// SPDX-License-Identifier: GPL-3.0-or-later
// By itself, so that the library of a test can have a policy of its own in its place.
#include "engine/schedule/help-policy.hpp"

namespace scs {

const HelpPolicy HelpPolicy::usual{};

} // namespace scs
