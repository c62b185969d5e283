// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string_view>
#include <unistd.h>

namespace scs {

/// A number that is another one in each process and that nobody can tell from outside. With it, clients can't choose
/// IDs or names that all come to the same place of a hash table, where each look-up would take as long as a search.
inline const uint64_t hash_seed = []() noexcept {
    uint64_t seed;
    if (getentropy(&seed, sizeof seed) != 0) // then the address, which is another one in each process, too, has to do
        seed = reinterpret_cast<uintptr_t>(&seed);
    return seed;
}();

/// [any] Of a name. The upper bits are the best ones.
inline uint64_t hash_of_name(std::string_view text) noexcept {
    uint64_t value = hash_seed;
    for (const char c : text)
        value = (value ^ static_cast<unsigned char>(c)) * 0x9E3779B97F4A7C15u; // 2^64 / golden ratio
    return value;
}

/// [any] Names are short, so a loop takes fewer instructions than memcmp(), and the same number wherever they lie.
inline bool same_name(std::string_view a, std::string_view b) noexcept {
    if (a.size() != b.size())
        return false;
    for (size_t i = 0; i < a.size(); ++i)
        if (a[i] != b[i])
            return false;
    return true;
}

} // namespace scs
