// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/packs/plugin-files.hpp"

#include <map>
#include <string>
#include <string_view>

namespace scs {

/// What was found out about a plugin file when it was tried. It holds as long as the file has that identity.
struct Verdict {
    FileIdentity identity;
    std::string problem; ///< what it did while it was loaded, in words; empty: it may be loaded
    std::string copy;    ///< the name of the private copy that is loaded; empty: the file itself is
    bool is_good() const { return problem.empty(); }
    bool operator==(const Verdict&) const = default;
};

/// The verdicts on plugin files by their paths, and their text, a line each. What doesn't read as a verdict is left
/// out, so at worst a file is tried again.
class Verdicts {
public:
    /// [any] A pure function of any bytes.
    static Verdicts parse(std::string_view text);
    /// [any] What parse() reads.
    std::string text() const;

    /// [any] Null if nothing is known of the file as it is now.
    const Verdict* find(const PluginFile&) const;
    /// [any but rt]
    void set(const std::string& path, Verdict);
    std::map<std::string, Verdict>& all() { return verdicts_; }
    const std::map<std::string, Verdict>& all() const { return verdicts_; }

private:
    std::map<std::string, Verdict> verdicts_;
};

} // namespace scs
