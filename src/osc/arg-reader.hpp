// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/nonblocking.hpp"
#include "osc/codec/decode.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace scs::osc {

/// Reads a message's arguments one after the other, as forgivingly as scsynth: a number of another type is converted;
/// an argument that is no number, or missing, gives the default. Cheap to copy, to read the same arguments again. [any]
class ArgReader {
public:
    ArgReader() = default;
    explicit ArgReader(std::span<const Arg> args) noexcept SCS_NONBLOCKING;

    /// Bytes that the arguments not yet read take on the wire: 4 for an int or float, 0 for a bracket. scsynth bounds
    /// its loops by them, and so do we: a loop should end when it is 0.
    size_t remain() const noexcept { return remain_; }
    /// The type tag of the next argument, '[' and ']' included; 0 at the end.
    char tag() const noexcept { return args_.empty() ? '\0' : char(args_.front().type); }
    /// The arguments that aren't read yet.
    std::span<const Arg> rest() const noexcept { return args_; }
    bool at_string() const noexcept { return tag() == 's'; }

    /// An int, or a float cut to one: out of range it becomes the nearest int, NaN becomes 0.
    int32_t get_int(int32_t otherwise = 0) noexcept { return tag() == 'i' ? take_number().i : convert_int(otherwise); }
    /// A float, double or int.
    float get_float(float otherwise = 0.0f) noexcept {
        return tag() == 'f' ? take_number().f : float(get_double(otherwise));
    }
    double get_double(double otherwise = 0.0) noexcept SCS_NONBLOCKING;
    /// A string; a NUL follows it. An argument of another type is skipped and gives `otherwise`.
    std::string_view get_string(std::string_view otherwise = {}) noexcept SCS_NONBLOCKING;
    /// A blob; an argument of another type stays unread and gives an empty one.
    std::span<const std::byte> get_blob() noexcept SCS_NONBLOCKING;
    /// Skips the next argument.
    void skip() noexcept SCS_NONBLOCKING;

private:
    int32_t convert_int(int32_t otherwise) noexcept SCS_NONBLOCKING;
    /// Takes off an argument of four bytes.
    const Arg& take_number() noexcept {
        const Arg& first = args_.front();
        args_ = args_.subspan(1);
        remain_ -= 4;
        return first;
    }

    std::span<const Arg> args_;
    size_t remain_ = 0;
};

} // namespace scs::osc
