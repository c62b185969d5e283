// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace scs::osc::test {

/// A SynthDef in SuperCollider's format: `controls` controls named c0, c1 … and a unit that has none of them.
inline std::vector<std::byte> definition(const std::string& name, int controls) {
    std::vector<std::byte> bytes;
    const auto number = [&](auto value) {
        for (int shift = int(sizeof value) * 8 - 8; shift >= 0; shift -= 8)
            bytes.push_back(std::byte(uint64_t(value) >> shift));
    };
    const auto real = [&](float value) {
        uint32_t bits;
        std::memcpy(&bits, &value, sizeof bits);
        number(bits);
    };
    const auto text = [&](const std::string& string) {
        number(uint8_t(string.size()));
        for (const char c : string)
            bytes.push_back(std::byte(c));
    };
    for (const char c : {'S', 'C', 'g', 'f'})
        bytes.push_back(std::byte(c));
    number(int32_t(2));
    number(int16_t(1));
    text(name);
    number(int32_t(1));
    real(0.f);
    number(int32_t(controls));
    for (int i = 0; i < controls; ++i)
        real(float(i));
    number(int32_t(controls));
    for (int i = 0; i < controls; ++i) {
        text("c" + std::to_string(i));
        number(int32_t(i));
    }
    number(int32_t(1));
    text("DC");
    number(uint8_t(1));
    number(int32_t(1));
    number(int32_t(1));
    number(int16_t(0));
    number(int32_t(-1));
    number(int32_t(0));
    number(uint8_t(1));
    number(int16_t(0));
    return bytes;
}

} // namespace scs::osc::test
