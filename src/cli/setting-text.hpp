// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "settings.hpp"

#include <string>

namespace scs::cli {

/// Whose default: the node's, or that of pw-scsynth, which is scsynth's.
enum class Whose { node, program };

/// A setting's default for documents: "1024", "true", "SuperCollider's own". `bound` belongs to settings that nobody
/// has changed. A switch after an option is 0 or 1 for the program. [any but rt]
std::string default_text(const spa::BoundSetting& bound, Whose whose);

/// Whether the program has a default: not for the port, which -u or -t must give.
inline bool program_has_default(const Setting& setting) {
    return setting.letter != 'u' && setting.letter != 't';
}

/// What pw-scsynth --help prints. [any but rt]
std::string help_text();

} // namespace scs::cli
