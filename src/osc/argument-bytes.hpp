// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/guard/fault-guard.hpp"
#include "osc/codec/compose.hpp"
#include "osc/codec/decode.hpp"

#include <cstddef>
#include <new>
#include <span>
#include <string_view>
#include <vector>

namespace scs::osc {

/// Arguments as bytes, for plugins to read: their tags and values as in a message after its address. Numbers, strings
/// and blobs only; other types are left out. Empty if they are too long for a message. [osc, worker]
class ArgumentBytes {
public:
    explicit ArgumentBytes(std::span<const Arg> args) {
        std::vector<ReplyArg> values;
        for (const Arg& arg : args)
            add(values, arg);
        constexpr std::string_view address = "/gen"; // 8 bytes on the wire
        const auto compose = [&] {
            if (const auto message = composer_.compose(address, values))
                bytes_ = message.value().subspan(8);
        };
        if (!FaultGuard::run(compose)) // without memory liblo writes to a null pointer
            throw std::bad_alloc();
    }
    std::span<const std::byte> get() const noexcept { return bytes_; }

private:
    static void add(std::vector<ReplyArg>& values, const Arg& arg) {
        switch (arg.type) {
        case Arg::Type::int32: values.emplace_back(arg.i); break;
        case Arg::Type::float32: values.emplace_back(arg.f); break;
        case Arg::Type::float64: values.emplace_back(arg.d); break;
        case Arg::Type::string: values.emplace_back(arg.text()); break;
        case Arg::Type::blob: values.emplace_back(arg.bytes()); break;
        default: break;
        }
    }

    ReplyComposer composer_;
    std::span<const std::byte> bytes_;
};

} // namespace scs::osc
