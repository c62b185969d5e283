// SPDX-License-Identifier: GPL-3.0-or-later
#include "osc/value-replies.hpp"

#include <algorithm>
#include <atomic>

namespace scs::osc {

namespace {

/// Bytes on the wire of address, comma, tags and the NULs.
uint64_t head_bytes(std::string_view address, uint64_t arguments) noexcept {
    return padded(address.size() + 1) + padded(arguments + 2);
}

void begin(OscCommand& command, const char* address, std::optional<int32_t> buffer) noexcept {
    command.reply().begin(address);
    if (buffer)
        command.reply().add(*buffer);
}

float read(float& value) noexcept {
    return std::atomic_ref(value).load(std::memory_order_relaxed);
}

} // namespace

size_t values_message_bytes(std::string_view address, uint64_t arguments) noexcept {
    return head_bytes(address, arguments) + 4 * arguments;
}

size_t values_room(std::string_view address, uint64_t arguments) noexcept {
    return values_message_bytes(address, arguments) > max_values_bytes ? 0 : reply_bytes(1, arguments);
}

uint64_t indexed_arguments(ArgReader indices) noexcept {
    return indices.remain() / 4 * 2;
}

uint64_t ranged_arguments(ArgReader ranges) noexcept {
    uint64_t arguments = 0;
    while (ranges.remain() && arguments <= max_values_bytes) {
        ranges.skip();
        arguments += 2 + uint64_t(std::max(0, ranges.get_int()));
    }
    return arguments;
}

Status reply_indexed(OscCommand& command, const char* address, std::optional<int32_t> buffer, ArgReader indices,
                     std::span<float> values) noexcept {
    if (values_message_bytes(address, indexed_arguments(indices) + buffer.has_value()) > max_values_bytes)
        return {Code::buffer_overflow};
    for (ArgReader check = indices; check.remain() >= 4;)
        if (uint32_t(check.get_int()) >= values.size())
            return {Code::index_out_of_range};

    begin(command, address, buffer);
    while (indices.remain() >= 4) {
        const int32_t index = indices.get_int();
        command.reply().add(index);
        command.reply().add(read(values[size_t(index)]));
    }
    return {};
}

Status reply_ranged(OscCommand& command, const char* address, std::optional<int32_t> buffer, ArgReader ranges,
                    std::span<float> values) noexcept {
    // As in scsynth: first whether the type tags fit, then one range after the other, so that the same failure is
    // answered.
    uint64_t bytes = head_bytes(address, ranged_arguments(ranges) + buffer.has_value()) + 4 * buffer.has_value();
    if (bytes > max_values_bytes)
        return {Code::buffer_overflow};
    for (ArgReader check = ranges; check.remain();) {
        const int64_t start = check.get_int(), count = check.get_int();
        if (start < 0 || count < 1 || start + count > int64_t(values.size()))
            return {Code::index_out_of_range};
        bytes += 4 * (2 + uint64_t(count));
        if (bytes > max_values_bytes)
            return {Code::buffer_overflow};
    }

    begin(command, address, buffer);
    while (ranges.remain()) {
        const int32_t start = ranges.get_int(), count = ranges.get_int();
        command.reply().add(start);
        command.reply().add(count);
        for (float& value : values.subspan(size_t(start), size_t(count)))
            command.reply().add(read(value));
    }
    return {};
}

} // namespace scs::osc
