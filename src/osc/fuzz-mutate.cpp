// SPDX-License-Identifier: GPL-3.0-or-later
// Changes that keep most of a packet what it is: words replaced by numbers at the edge, packets moved, taken out,
// doubled. Half of the changes are libFuzzer's own.
#include "osc/fuzz-mutate.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <random>

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace scs::osc {

namespace {

using Bytes = std::vector<uint8_t>;

constexpr std::array<uint8_t, 3> separator{0xf5, 0xf5, 0xf5};

// Whole numbers, floats (0.5, 1, -1, 440, 1e9, infinity, not a number), tags, and the server's first second.
constexpr std::array<uint32_t, 40> words{
    0,          1,          2,          3,          4,          5,          8,          15,
    16,         17,         31,         32,         63,         64,         65,         100,
    127,        128,        1000,       1001,       1002,       65536,      0x00ffffff, 0x7fffffff,
    0x80000000, 0xffffffff, 0xfffffffe, 0xfffffff8, 0x3f000000, 0x3f800000, 0xbf800000, 0x43dc0000,
    0x4e6e6b28, 0x7f800000, 0x7fc00000, 0x2c690000, 0x2c696969, 0x2c736900, 0x2c620000, fuzz_start_seconds};

void put_word(Bytes& bytes, size_t at, uint32_t word) {
    for (size_t i = 0; i < 4; ++i)
        bytes[at + i] = uint8_t(word >> (24 - 8 * i));
}

struct Part {
    Bytes bytes;
    uint8_t blocks;
};

std::vector<Part> parts_of(std::span<const uint8_t> input) {
    std::vector<Part> parts;
    for (const FuzzPacket& packet : split_packets(input))
        parts.push_back({Bytes(packet.bytes.begin(), packet.bytes.end()), uint8_t(packet.blocks)});
    return parts;
}

size_t join(const std::vector<Part>& parts, uint8_t* data, size_t max_size) {
    Bytes all;
    for (size_t i = 0; i < parts.size(); ++i) {
        all.insert(all.end(), parts[i].bytes.begin(), parts[i].bytes.end());
        if (i + 1 == parts.size() && parts[i].blocks == 0)
            break;
        all.insert(all.end(), separator.begin(), separator.end());
        all.push_back(parts[i].blocks);
    }
    const size_t size = std::min(all.size(), max_size);
    std::copy_n(all.begin(), size, data);
    return size;
}

void change(std::vector<Part>& parts, std::minstd_rand& random) {
    const auto below = [&](size_t n) { return n ? random() % n : 0; };
    const size_t at = below(parts.size());
    Part& part = parts[at];
    const size_t word_count = part.bytes.size() / 4;
    switch (below(8)) {
    case 0: // double
        parts.insert(parts.begin() + ptrdiff_t(below(parts.size() + 1)), Part(part));
        break;
    case 1: // take out
        if (parts.size() > 1)
            parts.erase(parts.begin() + ptrdiff_t(at));
        break;
    case 2: std::swap(part, parts[below(parts.size())]); break;
    case 3: part.blocks = uint8_t(below(4)); break;
    case 4: // one word as another of all packets
        if (const Part& from = parts[below(parts.size())]; word_count > 0 && from.bytes.size() >= 4)
            std::copy_n(from.bytes.begin() + ptrdiff_t(4 * below(from.bytes.size() / 4)), 4,
                        part.bytes.begin() + ptrdiff_t(4 * below(word_count)));
        break;
    default:
        if (word_count > 0)
            put_word(part.bytes, 4 * below(word_count), words[below(words.size())]);
    }
}

} // namespace

std::vector<FuzzPacket> split_packets(std::span<const uint8_t> input) {
    std::vector<FuzzPacket> packets;
    while (true) {
        const auto found = std::search(input.begin(), input.end(), separator.begin(), separator.end());
        const auto size = size_t(found - input.begin());
        if (input.size() - size <= separator.size()) { // no separator, or a cut one
            packets.push_back({input.first(size), 0});
            return packets;
        }
        packets.push_back({input.first(size), input[size + separator.size()] & 3});
        input = input.subspan(size + separator.size() + 1);
    }
}

} // namespace scs::osc

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned int seed) {
    using namespace scs::osc;
    std::minstd_rand random(seed);
    if (random() % 2 == 0)
        return LLVMFuzzerMutate(data, size, max_size);
    auto parts = parts_of({data, size});
    do
        change(parts, random);
    while (random() % 3 != 0);
    return join(parts, data, max_size);
}

extern "C" size_t LLVMFuzzerCustomCrossOver(const uint8_t* data1, size_t size1, const uint8_t* data2, size_t size2,
                                            uint8_t* out, size_t max_size, unsigned int seed) {
    using namespace scs::osc;
    std::minstd_rand random(seed);
    auto parts = parts_of({data1, size1});
    for (Part& other : parts_of({data2, size2}))
        parts.insert(parts.begin() + ptrdiff_t(random() % (parts.size() + 1)), std::move(other));
    while (parts.size() > 24)
        parts.erase(parts.begin() + ptrdiff_t(random() % parts.size()));
    return join(parts, out, max_size);
}
