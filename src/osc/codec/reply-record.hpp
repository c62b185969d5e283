// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/nonblocking.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <variant>

namespace scs::osc {

/// Replies on their way from the data loop to the OSC thread: messages in a row, in native byte
/// order and without alignment, each
///     u32 size of what follows | address, NUL | arguments
/// and each argument a type tag and its value: 'i' 'f' 4 bytes, 'd' 8 bytes, 's' u32 length, text.

/// Writes replies into the caller's bytes. Text goes up to its first NUL. [rt]
class ReplyWriter {
public:
    /// `room` must outlive the writer and what is read from it.
    explicit ReplyWriter(std::span<std::byte> room) noexcept;

    /// Starts the next message. `address` ends in a NUL; null or empty counts as an overflow.
    void begin(const char* address) noexcept SCS_NONBLOCKING;
    /// Arguments of the message begun last; before any begin() they count as an overflow.
    void add(int32_t value) noexcept SCS_NONBLOCKING;
    void add(float value) noexcept SCS_NONBLOCKING;
    void add(double value) noexcept SCS_NONBLOCKING;
    void add(std::string_view text) noexcept SCS_NONBLOCKING;

    /// True once something did not fit: from then on nothing is written and bytes() is empty.
    bool overflowed() const noexcept { return overflowed_; }
    /// All messages so far, complete at any time.
    std::span<const std::byte> bytes() const noexcept SCS_NONBLOCKING;
    /// Forgets all messages, and an overflow.
    void clear() noexcept SCS_NONBLOCKING;

private:
    template <class Number>
    void add_number(char tag, Number value) noexcept;
    bool claim(size_t size) noexcept;
    bool claim_argument(size_t size) noexcept;
    void put(const void* data, size_t size) noexcept;
    void set_size() noexcept;

    static constexpr size_t none = SIZE_MAX;

    std::span<std::byte> room_;
    size_t used_ = 0;
    size_t message_ = none; ///< where the message begun last has its size
    bool overflowed_ = false;
};

/// An argument of a reply. What it points to must live until it is composed.
using ReplyArg = std::variant<int32_t, float, double, std::string_view, std::span<const std::byte>>;

/// Walks a record: next_message(), then next_arg() until there is none, and so on. Bounded by the
/// record's size whatever it holds; a garbled record ends early. Never allocates. [any]
class ReplyReader {
public:
    explicit ReplyReader(std::span<const std::byte> record) noexcept : rest_(record) {}

    /// Moves on to the next message, past what is unread of this one; false at the end.
    bool next_message() noexcept;
    /// Ends in a NUL.
    std::string_view address() const noexcept { return address_; }
    /// The next argument of this message, or nothing after the last.
    std::optional<ReplyArg> next_arg() noexcept;

private:
    template <class Number>
    std::optional<ReplyArg> number() noexcept;
    bool fail() noexcept;

    std::span<const std::byte> rest_; ///< the messages after this one
    std::span<const std::byte> body_; ///< this message's unread arguments
    std::string_view address_;
};

} // namespace scs::osc
