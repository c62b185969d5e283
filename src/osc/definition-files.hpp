// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/nonblocking.hpp"
#include "engine/base/result.hpp"
#include "engine/base/settings.hpp"
#include "engine/definitions/definitions.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace scs::osc {

/// SynthDefs that the worker has read for the data loop, and what was wrong with others.
struct LoadedDefinitions {
    std::vector<std::unique_ptr<Definition>> definitions;
    std::vector<std::string> errors; ///< "<def>: …" or "<file>: …"
    bool denied = false;             ///< a file is outside the restricted path
};

inline constexpr off_t max_definition_file = 64 << 20; ///< bytes

/// [worker] Reads the files of a pattern (* ? [ ] and a leading ~), each of max_definition_file at most. `restricted`:
/// as for allowed_path().
LoadedDefinitions load_matching(std::string_view pattern, const std::string& restricted, const Settings&);
/// [worker] Reads every .scsyndef file of a folder and those in it.
LoadedDefinitions load_folder(std::string_view folder, const std::string& restricted, const Settings&);

/// [worker] A command that installs them, as far as they fit.
std::unique_ptr<Command> make_install(std::vector<std::unique_ptr<Definition>>);
/// [rt] Makes them known to /s_new. SynthDefs that they replace are handed back. False if some didn't fit in the table
/// of SynthDefs; those stay in the list.
bool install(Engine&, std::vector<std::unique_ptr<Definition>>&) noexcept SCS_NONBLOCKING;

} // namespace scs::osc
