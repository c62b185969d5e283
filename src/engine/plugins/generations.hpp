// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/settings.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace scs {

/// Values by their names, pointers for example, each from one generation on and until another.
template <class T>
class Generations {
public:
    /// The one of that name in that generation, or T().
    T find(std::string_view name, int generation) const {
        const auto all = spans_.find(name);
        if (all != spans_.end())
            for (const Span& each : all->second)
                if (each.from <= generation && generation < each.until)
                    return each.what;
        return T();
    }
    /// Adds it, unless there is one of that name from then on.
    bool add(std::string_view name, T what, int from) {
        if (find(name, newest_plugins))
            return false;
        spans_[std::string(name)].push_back({from, never, what});
        return true;
    }
    /// If it was added, it isn't there from generation `until` on.
    void end(std::string_view name, T what, int until) {
        const auto all = spans_.find(name);
        if (all != spans_.end())
            for (Span& each : all->second)
                if (each.what == what && each.until == never)
                    each.until = until;
    }
    std::vector<std::string> names(int generation) const {
        std::vector<std::string> found;
        for (const auto& [name, spans] : spans_)
            if (find(name, generation))
                found.push_back(name);
        return found;
    }

private:
    static constexpr int never = newest_plugins + 1;
    struct Span {
        int from, until;
        T what;
    };
    std::map<std::string, std::vector<Span>, std::less<>> spans_;
};

} // namespace scs
