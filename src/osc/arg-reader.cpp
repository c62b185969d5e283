// SPDX-License-Identifier: GPL-3.0-or-later
#include "osc/arg-reader.hpp"

#include <array>
#include <cmath>
#include <limits>

namespace scs::osc {

namespace {

/// Bytes on the wire, by type, of the types that always take the same.
constexpr std::array<uint8_t, 256> fixed_bytes = [] {
    std::array<uint8_t, 256> made{};
    for (const char type : {'i', 'f', 'c', 'm', 'r'})
        made[uint8_t(type)] = 4;
    for (const char type : {'d', 'h', 't'})
        made[uint8_t(type)] = 8;
    return made;
}();

size_t wire_bytes(const Arg& arg) noexcept {
    if (arg.type == Arg::Type::string)
        return padded(arg.size + size_t{1});
    if (arg.type == Arg::Type::blob)
        return 4 + padded(arg.size);
    return fixed_bytes[uint8_t(arg.type)];
}

/// Takes the first argument off; there must be one.
const Arg& take(std::span<const Arg>& args, size_t& remain) noexcept {
    const Arg& first = args.front();
    remain -= wire_bytes(first);
    args = args.subspan(1);
    return first;
}

template <class Int, class Float>
Int saturated(Float value) noexcept {
    if (std::isnan(value))
        return 0;
    if (value <= static_cast<Float>(std::numeric_limits<Int>::min()))
        return std::numeric_limits<Int>::min();
    if (value >= static_cast<Float>(std::numeric_limits<Int>::max()))
        return std::numeric_limits<Int>::max();
    return static_cast<Int>(value);
}

} // namespace

ArgReader::ArgReader(std::span<const Arg> args) noexcept : args_(args) {
    for (const Arg& arg : args)
        remain_ += wire_bytes(arg);
}

void ArgReader::skip() noexcept {
    if (!args_.empty())
        take(args_, remain_);
}

int32_t ArgReader::convert_int(int32_t otherwise) noexcept {
    if (args_.empty())
        return otherwise;
    const Arg& arg = take(args_, remain_);
    switch (arg.type) {
    case Arg::Type::float32: return saturated<int32_t>(arg.f);
    case Arg::Type::float64: return saturated<int32_t>(arg.d);
    default: return otherwise;
    }
}

double ArgReader::get_double(double otherwise) noexcept {
    if (args_.empty())
        return otherwise;
    const Arg& arg = take(args_, remain_);
    switch (arg.type) {
    case Arg::Type::int32: return arg.i;
    case Arg::Type::float32: return arg.f;
    case Arg::Type::float64: return arg.d;
    default: return otherwise;
    }
}

std::string_view ArgReader::get_string(std::string_view otherwise) noexcept {
    if (args_.empty())
        return otherwise;
    const Arg& arg = take(args_, remain_);
    return arg.type == Arg::Type::string ? arg.text() : otherwise;
}

std::span<const std::byte> ArgReader::get_blob() noexcept {
    if (tag() != 'b')
        return {};
    const Arg& arg = take(args_, remain_);
    return arg.bytes();
}

} // namespace scs::osc
