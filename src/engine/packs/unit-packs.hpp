// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace scs {

/// A plugin file that wasn't loaded, and why.
struct LeftOut {
    std::string path, why;
    bool operator==(const LeftOut&) const = default;
};

/// What to tell somebody whose SynthDef has a unit that isn't there. [worker]
class MissingUnits {
public:
    /// Units for which files are searched at most; of further ones it isn't said which file has them.
    static constexpr size_t most_searches = 256;

    /// From now on these plugin files are there, by path.
    void set_files(std::vector<LeftOut> left_out, std::vector<std::string> loaded);
    /// Which file would have the unit and what that lacks, or which pack has it, and what to do. `own_searched`: the
    /// server searches SuperCollider's own folders, so its own units are there. Reads the files that are left out, once
    /// for each unit.
    std::string advice(std::string_view unit, bool own_searched);

private:
    const LeftOut* find(std::string_view unit);
    std::string advice_on_pack(std::string_view unit) const;

    std::mutex mutex_;
    std::vector<LeftOut> left_out_;
    std::vector<std::string> loaded_;
    std::map<std::string, std::optional<size_t>, std::less<>> found_; ///< which of left_out_ has a unit
};

} // namespace scs
