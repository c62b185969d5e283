// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/plugins/plugin-outlet.hpp"

#include <map>
#include <mutex>
#include <unistd.h>

namespace scs {
namespace {

struct Outlets {
    std::mutex mutex; ///< held as long as one of them is called
    std::map<uint64_t, PluginOutlet*> open;
    uint64_t last = 0; ///< number that was given
};

/// Never destroyed: plugins' threads may outlive everything.
Outlets& outlets() noexcept {
    static auto* const all = new Outlets;
    return *all;
}

// Initial-exec: other thread-local storage would be allocated when the data loop first touches it.
[[gnu::tls_model("initial-exec")]] constinit thread_local uint64_t works_for = 0;

} // namespace

void PluginOutlet::open() {
    Outlets& all = outlets();
    const std::lock_guard lock(all.mutex);
    all.open.emplace(all.last + 1, this);
    number_ = ++all.last;
}

void PluginOutlet::close() noexcept {
    Outlets& all = outlets();
    const std::lock_guard lock(all.mutex);
    all.open.erase(number_);
}

bool PluginOutlet::send(uint64_t number, uint64_t client, std::span<const std::byte> packet) noexcept {
    Outlets& all = outlets();
    const std::lock_guard lock(all.mutex);
    const auto found = all.open.find(number);
    if (found == all.open.end())
        return false;
    found->second->take_packet(client, packet);
    return true;
}

bool PluginOutlet::print_piece(std::string_view text) noexcept {
    Outlets& all = outlets();
    const std::lock_guard lock(all.mutex);
    if (all.open.empty())
        return false;
    const auto found = all.open.find(works_for);
    PluginOutlet& outlet = found == all.open.end() ? *all.open.rbegin()->second : *found->second;
    outlet.take_piece(uint64_t(gettid()), text);
    return true;
}

uint64_t PluginOutlet::of_this_thread() noexcept {
    return works_for;
}

PluginOutlet::Scope::Scope(uint64_t number) noexcept : outer_(works_for) {
    works_for = number;
}

PluginOutlet::Scope::~Scope() {
    works_for = outer_;
}

} // namespace scs
