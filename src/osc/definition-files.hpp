// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/definitions/definitions.hpp"
#include "engine/base/result.hpp"
#include "engine/base/settings.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace scs::osc {

/// SynthDefs on their way from the worker to the data loop, and what was wrong on the way.
struct LoadedDefinitions {
    std::vector<std::unique_ptr<Definition>> definitions;
    std::vector<std::string> errors; ///< "<def>: …" or "<file>: …"
    bool denied = false;             ///< a file is outside of the restricted path
    bool found = false;              ///< there was a file to read
};

/// [worker] Reads one file; at most 64 MiB.
void load_file(const std::string& path, const Settings&, LoadedDefinitions& into);
/// [worker] Reads the files of a pattern (* ? [ ] and a leading ~). `restricted`: as for allowed_path().
LoadedDefinitions load_matching(std::string_view pattern, const std::string& restricted, const Settings&);
/// [worker] Reads every .scsyndef file of a folder and those in it.
LoadedDefinitions load_folder(std::string_view folder, const std::string& restricted, const Settings&);

/// [rt] Makes /s_new find them. Those that don't fit in the table stay in the list. What they replace is handed
/// back. False if any didn't fit.
bool install(Engine&, std::vector<std::unique_ptr<Definition>>&) noexcept;

} // namespace scs::osc
