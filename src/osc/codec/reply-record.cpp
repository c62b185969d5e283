// SPDX-License-Identifier: GPL-3.0-or-later
#include "osc/codec/reply-record.hpp"

#include <algorithm>

namespace scs::osc {
namespace {

using Size = uint32_t;

/// Takes a number off the front of `bytes`; false if there are too few.
template <class Number>
bool take(std::span<const std::byte>& bytes, Number& number) noexcept {
    if (bytes.size() < sizeof number)
        return false;
    std::memcpy(&number, bytes.data(), sizeof number);
    bytes = bytes.subspan(sizeof number);
    return true;
}

} // namespace

ReplyWriter::ReplyWriter(std::span<std::byte> room) noexcept
    : room_(room.first(std::min<size_t>(room.size(), UINT32_MAX))) {}

void ReplyWriter::begin(const char* address) noexcept {
    const size_t left = room_.size() - used_;
    SCS_UNPROVEN_BEGIN // it only reads
    const size_t length = address != nullptr ? ::strnlen(address, left) : 0;
    SCS_UNPROVEN_END
    if (length == 0 || !claim(sizeof(Size) + length + 1)) {
        overflowed_ = true;
        return;
    }
    message_ = used_;
    used_ += sizeof(Size);
    put(address, length);
    put("", 1);
    set_size();
}

template <class Number>
void ReplyWriter::add_number(char tag, Number value) noexcept {
    if (!claim_argument(1 + sizeof value))
        return;
    put(&tag, 1);
    put(&value, sizeof value);
    set_size();
}

void ReplyWriter::add(int32_t value) noexcept {
    add_number('i', value);
}

void ReplyWriter::add(float value) noexcept {
    add_number('f', value);
}

void ReplyWriter::add(double value) noexcept {
    add_number('d', value);
}

void ReplyWriter::add(std::string_view text) noexcept {
    // No further than what could fit: the search is bounded by the room.
    const std::string_view head(text.data(), std::min(text.size(), room_.size() - used_));
    const auto length = static_cast<Size>(std::min(head.find('\0'), head.size()));
    if (!claim_argument(1 + sizeof length + length))
        return;
    put("s", 1);
    put(&length, sizeof length);
    put(head.data(), length);
    set_size();
}

std::span<const std::byte> ReplyWriter::bytes() const noexcept {
    return room_.first(overflowed_ ? 0 : used_);
}

void ReplyWriter::clear() noexcept {
    used_ = 0;
    message_ = none;
    overflowed_ = false;
}

bool ReplyWriter::claim(size_t size) noexcept {
    if (size > room_.size() - used_)
        overflowed_ = true;
    return !overflowed_;
}

bool ReplyWriter::claim_argument(size_t size) noexcept {
    if (message_ == none)
        overflowed_ = true;
    return claim(size);
}

void ReplyWriter::put(const void* data, size_t size) noexcept {
    if (size != 0)
        std::memcpy(room_.data() + used_, data, size);
    used_ += size;
}

void ReplyWriter::set_size() noexcept {
    const auto size = static_cast<Size>(used_ - message_ - sizeof(Size));
    std::memcpy(room_.data() + message_, &size, sizeof size);
}

bool ReplyReader::next_message() noexcept {
    address_ = {};
    body_ = {};
    if (rest_.empty())
        return false;
    Size size = 0;
    if (!take(rest_, size) || size > rest_.size())
        return fail();
    body_ = rest_.first(size);
    rest_ = rest_.subspan(size);
    const auto* text = reinterpret_cast<const char*>(body_.data());
    const size_t length = size != 0 ? ::strnlen(text, size) : 0;
    if (length == 0 || length == size)
        return fail();
    address_ = {text, length};
    body_ = body_.subspan(length + 1);
    return true;
}

std::optional<ReplyArg> ReplyReader::next_arg() noexcept {
    char tag = 0;
    if (!take(body_, tag))
        return {};
    switch (tag) {
    case 'i': return number<int32_t>();
    case 'f': return number<float>();
    case 'd': return number<double>();
    case 's':
        if (Size length = 0; take(body_, length) && length <= body_.size()) {
            const std::string_view text(reinterpret_cast<const char*>(body_.data()), length);
            body_ = body_.subspan(length);
            return text;
        }
        break;
    default: break;
    }
    fail();
    return {};
}

template <class Number>
std::optional<ReplyArg> ReplyReader::number() noexcept {
    Number value{};
    if (take(body_, value))
        return value;
    fail();
    return {};
}

bool ReplyReader::fail() noexcept {
    body_ = {};
    rest_ = {};
    return false;
}

} // namespace scs::osc
