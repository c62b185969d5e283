// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/plugins/plugin-outlet.hpp"
#include "osc/endpoint.hpp"
#include "osc/wakeup.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace scs::osc {

/// What plugins say on other threads than the data loop, on its way to the OSC thread: packets for clients, and text.
class PluginPost final : public PluginOutlet {
public:
    static constexpr size_t most_bytes = 4 << 20; ///< that wait; what comes beyond is lost

    struct Packet {
        uint64_t client;
        std::vector<std::byte> bytes;
    };
    struct Piece {
        uint64_t source;
        std::string text;
    };
    struct Mail {
        std::vector<Packet> packets;
        std::vector<Piece> pieces;
        uint64_t lost = 0; ///< packets and pieces for which there was no room
    };

    /// `arrived` is rung when there is something. May throw.
    explicit PluginPost(Wakeup& arrived) : arrived_(arrived) { open(); }
    ~PluginPost() { close(); }
    /// [any] Afterwards nothing comes any more.
    void end() noexcept { close(); }
    /// [osc] Whether something has come.
    bool any() const noexcept { return any_.load(std::memory_order_acquire); }
    /// [osc] What has come, each kind in its order.
    Mail take();

private:
    void take_packet(uint64_t client, std::span<const std::byte> packet) noexcept override;
    void take_piece(uint64_t source, std::string_view text) noexcept override;
    template <class Add>
    void add(size_t bytes, Add&& add) noexcept;

    Wakeup& arrived_;
    std::mutex mutex_;
    Mail mail_;
    size_t bytes_ = 0;
    std::atomic<bool> any_{false};
};

} // namespace scs::osc
