// SPDX-License-Identifier: GPL-3.0-or-later
#include "osc/codec/decode.hpp"
#include "osc/codec/dump.hpp"
#include "osc/codec/test-packets.hpp"

#include <cstdlib>

using namespace scs::osc;

namespace {

/// A sum that depends on every byte which the tables point to.
size_t touch(const Packet& packet) {
    size_t sum = 0;
    test::for_each_message(packet, [&](const PacketBundle&, const Message& message) {
        for (const char c : message.name())
            sum += static_cast<unsigned char>(c);
        for (const Arg& arg : message.args) {
            if (arg.type == Arg::Type::string)
                for (const char* c = arg.s; *c != '\0'; ++c)
                    sum += static_cast<unsigned char>(*c);
            if (arg.type == Arg::Type::blob)
                for (const std::byte b : arg.bytes())
                    sum += std::to_integer<size_t>(b);
        }
    });
    return sum;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const auto bytes = std::as_bytes(std::span(data, size));
    const auto first = decode(bytes);
    if (!first) {
        if (first.error().empty())
            std::abort();
        return 0;
    }
    // The packet's copy says the same as what it was made from.
    const auto second = decode(first.value().bytes());
    if (!second || touch(first.value()) != touch(second.value()) || to_text(first.value()) != to_text(second.value()))
        std::abort();
    return 0;
}
