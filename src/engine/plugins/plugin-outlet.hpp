// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace scs {

/// Takes what plugins and streams say outside of the data loop (packets for clients, text) to their server. Any thread
/// may call it at any time while it is open, by its number; no other outlet of the process ever gets that number.
class PluginOutlet {
public:
    PluginOutlet() noexcept = default;
    PluginOutlet(const PluginOutlet&) = delete;
    PluginOutlet& operator=(const PluginOutlet&) = delete;

    /// [any but rt] Its number. 0 before open(), which may throw; the same after close().
    uint64_t number() const noexcept { return number_; }

    /// [any but rt] Sends a packet to a client of the server with this number. false: that is gone.
    static bool send(uint64_t number, uint64_t client, std::span<const std::byte> packet) noexcept;
    /// [any but rt] Prints text, whose line may go on with the next piece, where the server prints that this thread
    /// works for; if it works for none, the one that was opened last. false: there is none.
    static bool print_piece(std::string_view text) noexcept;
    /// [any] The server that this thread works for; 0: none.
    static uint64_t of_this_thread() noexcept;

    /// While it lives, its thread works for the server with this number. [any]
    class Scope {
    public:
        explicit Scope(uint64_t number) noexcept;
        ~Scope();
        Scope(const Scope&) = delete;
        Scope& operator=(const Scope&) = delete;

    private:
        uint64_t outer_;
    };

protected:
    ~PluginOutlet() = default;
    void open();
    /// Afterwards nobody calls it any more. The destructor of the class that is called must do it, at the latest, while
    /// its members are still there.
    void close() noexcept;

private:
    // [any but rt] One at a time, in the order in which they were called. They may lock for a moment and allocate.
    virtual void take_packet(uint64_t client, std::span<const std::byte> packet) noexcept = 0;
    /// `source`: the same for all pieces of a line.
    virtual void take_piece(uint64_t source, std::string_view text) noexcept = 0;

    uint64_t number_ = 0;
};

} // namespace scs
