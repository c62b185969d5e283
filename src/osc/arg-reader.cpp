// SPDX-License-Identifier: GPL-3.0-or-later
#include "osc/arg-reader.hpp"

#include <cmath>
#include <limits>

namespace scs::osc {

namespace {

std::size_t padded(std::size_t bytes) noexcept {
    return (bytes + 3) & ~std::size_t{3};
}

std::size_t wire_bytes(const Arg& arg) noexcept {
    switch (arg.type) {
    case Arg::Type::int32:
    case Arg::Type::float32:
    case Arg::Type::chr:
    case Arg::Type::midi:
    case Arg::Type::rgba:
        return 4;
    case Arg::Type::float64:
    case Arg::Type::int64:
    case Arg::Type::timetag:
        return 8;
    case Arg::Type::string:
        return padded(arg.size + std::size_t{1});
    case Arg::Type::blob:
        return 4 + padded(arg.size);
    default:
        return 0;
    }
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
    if (args_.empty())
        return;
    remain_ -= wire_bytes(args_.front());
    args_ = args_.subspan(1);
}

std::int32_t ArgReader::get_int(std::int32_t otherwise) noexcept {
    if (args_.empty())
        return otherwise;
    const Arg& arg = args_.front();
    skip();
    switch (arg.type) {
    case Arg::Type::int32:
        return arg.i;
    case Arg::Type::float32:
        return saturated<std::int32_t>(arg.f);
    case Arg::Type::float64:
        return saturated<std::int32_t>(arg.d);
    default:
        return otherwise;
    }
}

double ArgReader::get_double(double otherwise) noexcept {
    if (args_.empty())
        return otherwise;
    const Arg& arg = args_.front();
    skip();
    switch (arg.type) {
    case Arg::Type::int32:
        return arg.i;
    case Arg::Type::float32:
        return arg.f;
    case Arg::Type::float64:
        return arg.d;
    default:
        return otherwise;
    }
}

float ArgReader::get_float(float otherwise) noexcept {
    return static_cast<float>(get_double(otherwise));
}

std::string_view ArgReader::get_string(std::string_view otherwise) noexcept {
    if (args_.empty())
        return otherwise;
    const Arg& arg = args_.front();
    skip();
    return arg.type == Arg::Type::string ? arg.text() : otherwise;
}

std::span<const std::byte> ArgReader::get_blob() noexcept {
    if (tag() != 'b')
        return {};
    const Arg& arg = args_.front();
    skip();
    return arg.bytes();
}

} // namespace scs::osc
