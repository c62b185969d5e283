// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/definitions/definitions.hpp"

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

namespace scs::osc {

/// What the SynthDefs that exist were read from. [worker]
class DefinitionSources {
public:
    /// They are about to be installed, after all that were noted before.
    void note(std::span<const std::unique_ptr<Definition>> definitions) {
        if (noted_.size() >= look_at_) {
            std::erase_if(noted_, [](const auto& source) { return source.expired(); });
            look_at_ = 2 * noted_.size() + 64;
        }
        for (const auto& each : definitions)
            noted_.push_back(each->source);
    }
    /// In the order in which they were noted; of several of one name, the last.
    std::vector<std::shared_ptr<const DefinitionSource>> all() const;
    /// The same, and forgets all: their engine broke, and what it had exists for ever.
    std::vector<std::shared_ptr<const DefinitionSource>> take_all() {
        auto sources = all();
        noted_.clear();
        return sources;
    }

private:
    std::vector<std::weak_ptr<const DefinitionSource>> noted_;
    size_t look_at_ = 64;
};

} // namespace scs::osc
