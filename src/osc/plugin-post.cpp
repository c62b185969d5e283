// SPDX-License-Identifier: GPL-3.0-or-later
#include "osc/plugin-post.hpp"

#include <new>
#include <utility>

namespace scs::osc {

template <class Add>
void PluginPost::add(size_t bytes, Add&& add) noexcept {
    constexpr size_t each = 64; // what an entry takes besides
    bool first = false;
    {
        const std::lock_guard lock(mutex_);
        first = !any_.exchange(true, std::memory_order_release);
        try {
            if (bytes + each > most_bytes - bytes_)
                throw std::bad_alloc();
            add();
            bytes_ += bytes + each;
        } catch (const std::bad_alloc&) {
            ++mail_.lost;
        }
    }
    if (first)
        arrived_.ring();
}

void PluginPost::take_packet(uint64_t client, std::span<const std::byte> packet) noexcept {
    add(packet.size(), [&] { mail_.packets.push_back({client, {packet.begin(), packet.end()}}); });
}

void PluginPost::take_piece(uint64_t source, std::string_view text) noexcept {
    add(text.size(), [&] { mail_.pieces.push_back({source, std::string(text)}); });
}

PluginPost::Mail PluginPost::take() {
    const std::lock_guard lock(mutex_);
    bytes_ = 0;
    any_.store(false, std::memory_order_relaxed);
    return std::exchange(mail_, {});
}

} // namespace scs::osc
