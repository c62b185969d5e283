// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace scs {

/// What clients want of the graph's transport, until the program that drives it asks for that. [rt]
class TransportRequests {
public:
    static constexpr size_t most = 16;

    struct Request {
        enum class Kind : uint8_t { start, stop, locate, tempo };
        Kind kind = Kind::start;
        double value = 0; ///< locate: the beat; tempo: beats a second
    };

    /// false: there is no room.
    bool add(const Request& request) noexcept {
        if (count_ == most)
            return false;
        requests_[(first_ + count_++) % most] = request;
        return true;
    }
    /// The oldest one.
    std::optional<Request> take() noexcept {
        if (count_ == 0)
            return {};
        const Request& request = requests_[first_];
        first_ = (first_ + 1) % most;
        --count_;
        return request;
    }
    /// Somebody drives the transport in this block.
    void drive(int32_t block) noexcept {
        driven_ = true;
        block_ = block;
    }
    /// What waits is forgotten, and nobody drives the transport any more.
    void leave() noexcept {
        driven_ = false;
        count_ = 0;
    }
    /// Whether drive() was called in one of the last `blocks` blocks before number `block`. If not, what waits is
    /// forgotten.
    bool driven(int32_t block, uint32_t blocks) noexcept {
        if (!driven_ || uint32_t(block) - uint32_t(block_) > blocks)
            leave();
        return driven_;
    }

private:
    std::array<Request, most> requests_;
    size_t first_ = 0, count_ = 0;
    bool driven_ = false;
    int32_t block_ = 0;
};

} // namespace scs
