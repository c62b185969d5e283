// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "osc/codec/decode.hpp"

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

namespace scs::osc::test {

using Bytes = std::vector<std::byte>;

inline Bytes raw(std::string_view text) {
    const auto bytes = std::as_bytes(std::span(text));
    return {bytes.begin(), bytes.end()};
}

inline void append(Bytes& to, const Bytes& more) {
    to.insert(to.end(), more.begin(), more.end());
}

inline Bytes join(std::initializer_list<Bytes> parts) {
    Bytes out;
    for (const Bytes& part : parts)
        append(out, part);
    return out;
}

inline Bytes be32(uint32_t value) {
    return {std::byte(value >> 24), std::byte(value >> 16), std::byte(value >> 8), std::byte(value)};
}

inline Bytes be64(uint64_t value) {
    const auto high = uint32_t(value >> 32);
    return join({be32(high), be32(uint32_t(value))});
}

/// A string with its NUL and padding.
inline Bytes str(std::string_view text) {
    Bytes out = raw(text);
    out.resize(text.size() / 4 * 4 + 4);
    return out;
}

/// A bundle of elements, each given its size.
inline Bytes bundle(uint64_t time, std::initializer_list<Bytes> elements) {
    Bytes out = join({str("#bundle"), be64(time)});
    for (const Bytes& element : elements)
        append(out, join({be32(uint32_t(element.size())), element}));
    return out;
}

/// An empty bundle inside `depth - 1` others.
inline Bytes nested_bundles(size_t depth) {
    Bytes out;
    for (size_t i = 0; i < depth; ++i) {
        append(out, join({str("#bundle"), be64(1)}));
        if (i + 1 < depth)
            append(out, be32(uint32_t((depth - i - 1) * 20 - 4)));
    }
    return out;
}

/// Calls `visit(bundle, message)` for each message, in the order of Packet::bundles().
template <class Visit>
void for_each_message(const Packet& packet, Visit&& visit) {
    for (const PacketBundle& bundle : packet.bundles())
        for (const Message& message : bundle.messages)
            visit(bundle, message);
}

} // namespace scs::osc::test
