// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/packs/plugin-cache.hpp"
#include "engine/packs/plugin-files.hpp"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace scs {

/// A plugin file that may be loaded, or why it may not.
struct VettedFile {
    std::string problem;      ///< in words; empty: none
    std::string load_path;    ///< of what is to be loaded: a private copy or the file itself
    std::string content;      ///< equal for equal contents, as long as the process lives
    bool in_place = false;    ///< load_path is the file itself
    bool is_packaged = false; ///< and belongs to the system, which replaces files and never writes into them
    FileIdentity identity;
};

/// Tries plugin files before they are loaded, makes the private copies that are loaded in their place, and remembers
/// both, from one start to the next where there is a cache. One a process. [worker]
class Vetting {
public:
    using Report = std::function<void(const std::string&)>;

    /// A result for each file. `report` gets a line if files can't be tried, or not be remembered.
    std::vector<VettedFile> vet(const std::vector<PluginFile>&, const Report&);

    /// A file turned out to be harmful after all: it is left out from now on, until it changes. Returns its problem.
    std::string condemn(const PluginFile&, const std::string& what);

private:
    struct Fresh;
    std::optional<VettedFile> recall(const PluginFile&, const Verdicts&) const;
    Fresh examine(const PluginFile&);
    std::string copy_in_memory_once(const std::string& name, std::span<const std::byte> content);
    void try_out(std::vector<Fresh>&, const Report&);
    void remember(const std::vector<Fresh>&);
    void say_once(const std::string&, const Report&);

    std::optional<PluginCache> cache_; ///< none: the user has no folder for it
    std::map<std::string, VettedFile> vetted_;
    std::map<std::string, std::string> in_memory_; ///< the paths of copies that last as long as the process, by name
    std::map<std::string, bool> said_;
};

} // namespace scs
