// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "osc/codec/compose.hpp"
#include "osc/codec/dump.hpp"

#include <doctest/doctest.h>

#include <string_view>
#include <utility>
#include <vector>

namespace scs::test {

using Args = std::vector<osc::ReplyArg>;

/// A server's reply, as it arrives.
inline osc::Packet reply(std::string_view address, const Args& args) {
    osc::ReplyComposer composer;
    const auto bytes = composer.compose(address, args);
    REQUIRE(bytes);
    auto packet = osc::decode(bytes.value());
    REQUIRE(packet);
    return std::move(packet.value());
}

} // namespace scs::test
