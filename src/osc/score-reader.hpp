// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/result.hpp"
#include "osc/codec/decode.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace scs::osc {

/// The packets of a score (see render_score()), one after the other. Errors say where. [any but rt]
class ScoreReader {
public:
    /// Gives as many of the bytes that come next. false: it can't.
    using Source = std::function<bool(std::span<std::byte>)>;

    explicit ScoreReader(std::span<const std::byte> bytes)
        : ScoreReader(bytes.size(), [bytes](std::span<std::byte> into) mutable {
              std::ranges::copy(bytes.first(into.size()), into.begin());
              bytes = bytes.subspan(into.size());
              return true;
          }) {}
    /// A score of `size` bytes, which is read packet by packet, so that one that is none is refused at its begin. A
    /// packet may have `largest` bytes.
    ScoreReader(uint64_t size, Source source, size_t largest = max_packet_size)
        : source_(std::move(source)), size_(size), largest_(largest) {}

    bool at_end() const { return position_ == size_; }
    Result<std::shared_ptr<const Packet>> next() {
        start_ = position_;
        ++count_;
        const uint64_t left = size_ - start_;
        std::array<std::byte, size_bytes> head;
        if (left < size_bytes)
            return error("the score ends in the middle of a bundle's size");
        if (!source_(head))
            return error("it could not be read");
        const size_t size = packet_size(head);
        if (size > left - size_bytes)
            return error("its size is " + std::to_string(size) + " bytes, but the score ends after " +
                         std::to_string(left - size_bytes));
        if (size > largest_)
            return error("its size is " + std::to_string(size) + " bytes, more than " + std::to_string(largest_));
        bytes_.resize(size);
        if (!source_(bytes_))
            return error("it could not be read");
        auto packet = decode(bytes_);
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
    Source source_;
    std::vector<std::byte> bytes_; ///< of the last packet
    uint64_t size_, position_ = 0, start_ = 0;
    size_t largest_;
    uint64_t count_ = 0;
};

} // namespace scs::osc
