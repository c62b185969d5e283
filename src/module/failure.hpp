// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <spa/utils/dict.h>

#include <string>

namespace scs::module {

/// Why there is no node.
struct Failure {
    /// A negative errno.
    int code;
    /// One sentence for the person who loaded the module.
    std::string text;
};

/// Explains why no node could be made with `settings`, and which setting would help. All that a plugin gives
/// for that is `code`, a negative errno. [any]
Failure creation_failure(int code, const spa_dict& settings);

} // namespace scs::module
