// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/result.hpp"
#include "osc/codec/decode.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace scs::osc {

/// The packets of a score (see render_score()), one after the other. Errors say where. [any but rt]
class ScoreReader {
public:
    explicit ScoreReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

    bool at_end() const { return position_ == bytes_.size(); }
    Result<std::shared_ptr<const Packet>> next() {
        start_ = position_;
        ++count_;
        const auto rest = bytes_.subspan(position_);
        if (rest.size() < size_bytes)
            return error("the score ends in the middle of a bundle's size");
        const size_t size = packet_size(rest);
        if (size > rest.size() - size_bytes)
            return error("its size is " + std::to_string(size) + " bytes, but the score ends after " +
                         std::to_string(rest.size() - size_bytes));
        auto packet = decode(rest.subspan(size_bytes, size));
        if (!packet)
            return error(packet.error());
        if (!packet.value().is_bundle())
            return error("not a bundle, but a message");
        position_ += size_bytes + size;
        return std::make_shared<const Packet>(std::move(packet.value()));
    }
    /// An error of the last packet.
    Error error(const std::string& what) const {
        return {"bundle " + std::to_string(count_) + " at byte " + std::to_string(start_) + ": " + what};
    }

    static constexpr size_t size_bytes = 4;
    /// The size that the first four bytes give; that many must be there.
    static size_t packet_size(std::span<const std::byte> bytes) {
        size_t size = 0;
        for (const std::byte byte : bytes.first(size_bytes))
            size = size << 8 | std::to_integer<size_t>(byte);
        return size;
    }

private:
    std::span<const std::byte> bytes_;
    size_t position_ = 0, start_ = 0;
    uint64_t count_ = 0;
};

} // namespace scs::osc
