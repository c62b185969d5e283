// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/control/binding.hpp"
#include "osc/repeated-command.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>

namespace scs::osc {

/// The ID of a PacketBinding; no client's binding may have it.
inline constexpr int32_t packet_binding_id = std::numeric_limits<int32_t>::min();

/// Carries out the commands of OSC packets that control ports bring, at the packet's frame: those that are `bindable`.
/// Packets that are malformed, and other commands, are refused. Time tags of bundles have no effect.
class PacketBinding final : public Binding {
public:
    static constexpr PacketLimits limits{.bytes = 65536, .elements = 1024, .arguments = 8192};

    /// [any but rt]
    explicit PacketBinding(Services&);

    bool hears_packets() const noexcept override { return true; }
    void handle(const ControlEvent&, BindingTargets&) noexcept override;
    bool go_on() noexcept override;
    void end(BindingTargets&) noexcept override {}
    int64_t cost() const noexcept override { return 1000; }

private:
    RepeatedCommand* find(const Message&) noexcept;
    bool begin_next() noexcept;

    const Services& services_;
    const Message none_{};
    std::deque<RepeatedCommand> commands_; ///< one for each row
    PacketReader reader_;
    std::span<const Message> left_;      ///< of the packet that is being carried out
    RepeatedCommand* command_ = nullptr; ///< null: none is being carried out
    size_t* refused_ = nullptr;
};

} // namespace scs::osc
