// SPDX-License-Identifier: GPL-3.0-or-later
#include "osc/clients.hpp"

#include <algorithm>

namespace scs::osc {

Clients::Clients(int max) : max_(max) {
    free_ids_.reserve(size_t(max));
    logins_.reserve(size_t(max));
    clear();
}

void Clients::clear() noexcept {
    logins_.clear();
    free_ids_.clear();
    for (int id = 0; id < max_; ++id)
        free_ids_.push_back(id);
}

std::optional<int> Clients::find(const Endpoint& endpoint) const noexcept {
    for (const Login& login : logins_)
        if (login.endpoint == endpoint)
            return login.id;
    return {};
}

int Clients::add(const Endpoint& endpoint, int requested) noexcept {
    auto it = std::find(free_ids_.begin(), free_ids_.end(), requested);
    if (it == free_ids_.end())
        it = free_ids_.begin();
    const int id = *it;
    free_ids_.erase(it);
    logins_.push_back({endpoint, id});
    return id;
}

bool Clients::remove(const Endpoint& endpoint) noexcept {
    const auto it =
        std::find_if(logins_.begin(), logins_.end(), [&](const Login& login) { return login.endpoint == endpoint; });
    if (it == logins_.end())
        return false;
    free_ids_.push_back(it->id);
    logins_.erase(it);
    return true;
}

} // namespace scs::osc
