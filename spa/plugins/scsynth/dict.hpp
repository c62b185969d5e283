// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <spa/utils/dict.h>

#include <vector>

namespace scs::spa {

/// Pairs of strings as an spa_dict. Points into them: they must outlive it, unchanged. [any but rt]
class Dict {
public:
    template <class Pairs>
    explicit Dict(const Pairs& pairs) {
        for (const auto& [key, value] : pairs)
            items_.push_back({key.c_str(), value.c_str()});
        dict_ = {0, uint32_t(items_.size()), items_.data()};
    }
    Dict(const Dict&) = delete;
    Dict& operator=(const Dict&) = delete;

    /// Adds a key without a value: a host then removes its own property of that name.
    void remove(const char* key) {
        items_.push_back({key, nullptr});
        dict_ = {0, uint32_t(items_.size()), items_.data()};
    }

    const spa_dict* get() const noexcept { return &dict_; }

private:
    std::vector<spa_dict_item> items_;
    spa_dict dict_;
};

} // namespace scs::spa
