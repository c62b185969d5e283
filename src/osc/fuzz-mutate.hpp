// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace scs::osc {

/// NTP seconds at which the fuzzed server's clock begins.
inline constexpr uint32_t fuzz_start_seconds = 3'900'000'000;

/// A packet and how many blocks are rendered after it, 0 … 3.
struct FuzzPacket {
    std::span<const uint8_t> bytes;
    int blocks;
};

/// An input of fuzz-packets: packets, after each of them but the last a separator of three bytes 0xf5 and one whose
/// two lowest bits are the blocks.
std::vector<FuzzPacket> split_packets(std::span<const uint8_t> input);

} // namespace scs::osc
