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

/// What the negative errno `code` of a node's creation with `settings` means to the user, and which
/// setting would help. The errno is all that gets out of a plugin. [any]
Failure creation_failure(int code, const spa_dict& settings);

} // namespace scs::module
