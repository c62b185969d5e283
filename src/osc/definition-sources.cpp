// SPDX-License-Identifier: GPL-3.0-or-later
#include "osc/definition-sources.hpp"

#include <string_view>
#include <unordered_set>

namespace scs::osc {

std::vector<std::shared_ptr<const DefinitionSource>> DefinitionSources::all() const {
    std::vector<std::shared_ptr<const DefinitionSource>> result;
    std::unordered_set<std::string_view> names;
    for (auto it = noted_.rbegin(); it != noted_.rend(); ++it)
        if (auto source = it->lock(); source && names.insert(source->name).second)
            result.push_back(std::move(source));
    std::ranges::reverse(result);
    return result;
}

} // namespace scs::osc
