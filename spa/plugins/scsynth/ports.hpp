// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <spa/node/io.h>
#include <spa/node/node.h>
#include <spa/param/latency-utils.h>
#include <spa/pod/builder.h>
#include <spa/utils/dict.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace scs::spa {

/// A port as the data loop sees it. Changed only on that loop.
class PortIo {
public:
    /// [rt] The area where buffers are exchanged, or null while nothing is linked.
    void set_area(spa_io_buffers* area) noexcept { area_ = area; }
    /// [rt] Takes these buffers and leaves in their place those it had, to be freed elsewhere.
    void swap_buffers(std::vector<spa_buffer*>& buffers) noexcept { buffers_.swap(buffers); }

    /// [rt] An input's samples of this cycle; null if nothing is linked or what came is empty or shorter than
    /// `frames`. Asks for the next ones.
    const float* take_input(uint32_t frames) noexcept;
    /// [rt] Where to put an output's samples; null if nothing is linked or the buffer is shorter than `frames`.
    float* begin_output(uint32_t frames) noexcept;
    /// [rt] Hands on what begin_output() gave.
    void end_output(uint32_t frames) noexcept;
    /// [rt] What an input has brought in this cycle, in memory that others may be writing; empty if nothing is linked.
    /// Asks for the next.
    std::span<const std::byte> take_bytes() noexcept;
    /// [rt] Where to put what a control output has in this cycle, in memory that others may read and write; null if
    /// nothing is linked.
    std::span<std::byte> begin_bytes() noexcept;
    /// [rt] Hands on that many bytes of what begin_bytes() gave.
    void end_bytes(uint32_t bytes) noexcept { end(bytes, 1); }
    /// [rt] Whether an output's buffers go anywhere.
    bool linked() const noexcept { return area_ && !buffers_.empty(); }
    /// [rt] Frames that an output's buffers hold; 0 if nothing is linked.
    uint32_t room() const noexcept;

private:
    void end(uint32_t bytes, int32_t stride) noexcept;

    spa_io_buffers* area_ = nullptr;
    std::vector<spa_buffer*> buffers_; ///< owned by the host, each with at least one data block
    uint32_t current_ = 0;
    bool writing_ = false;
};

/// A port as the main loop sees it: what it is, and the params that a host asks for. Mono sound of 32-bit floats, or
/// control: notes and the like, each at its frame.
class Port {
public:
    static constexpr uint32_t max_buffers = 64;

    /// [main] Number `id` of the audio ports of its direction, with that channel. `name`: for its users, in place of
    /// in_1, out_1 and so on.
    Port(spa_direction, uint32_t id, uint32_t channel, std::string name = {});
    /// [main] The control port with that ID, which is the number `index` of those of its direction.
    static Port control(spa_direction, uint32_t id, uint32_t index);

    spa_direction direction() const { return direction_; }
    uint32_t id() const { return id_; }
    bool is_control() const { return channel_.empty(); }
    bool has_format() const { return has_format_; }
    /// Whether the host has links to it. With the last one it takes the area away, or in a client the buffers.
    bool linked() const { return has_area_ && has_buffers_; }
    void set_has_area(bool has) { has_area_ = has; }
    void set_has_buffers(bool has) { has_buffers_ = has; }

    /// [main] What to emit. `change_mask` says all, or what changed since the last call.
    spa_port_info info(bool all);

    /// [main] The param number `index` of that id: null if there is no such number. `unknown` is set for an id
    /// that ports don't have, `unset` for one that needs a format first.
    spa_pod* param(uint32_t id, uint32_t index, uint32_t quantum_limit, spa_pod_builder&, int& error) const;
    /// [main] Sets the format; null takes it away. -EINVAL if it isn't ours.
    int set_format(const spa_pod* format, bool test_only);
    /// [main] What the port tells about latency in that direction.
    const spa_latency_info& latency(spa_direction direction) const { return latency_[direction]; }
    /// [main] Returns whether that changed anything.
    bool set_latency(const spa_latency_info&);

private:
    Port(spa_direction, uint32_t id, std::string key, std::string name, std::string channel);
    spa_pod* format_param(uint32_t id, spa_pod_builder&) const;
    spa_pod* buffers_param(uint32_t id, uint32_t quantum_limit, spa_pod_builder&) const;

    enum ParamSlot { enum_format, meta, io, format, buffers, latency_slot, slots };

    spa_direction direction_;
    uint32_t id_;
    std::string key_;            ///< in_1, out_1 and so on, whatever its name is
    std::string name_, channel_; ///< a control port has no channel
    bool has_format_ = false, has_area_ = false, has_buffers_ = false;
    uint64_t changed_ = 0;
    std::array<spa_param_info, slots> params_{};
    std::array<spa_dict_item, 4> items_{};
    spa_dict props_{};
    std::array<spa_latency_info, 2> latency_{};
};

} // namespace scs::spa
