// SPDX-License-Identifier: GPL-3.0-or-later
#include "osc/reply-port.hpp"

#include <array>
#include <vector>

namespace scs {

void ReplyPort::done(const osc::Endpoint& to, std::string_view name, std::optional<int32_t> value) {
    const std::array<osc::ReplyArg, 2> args{name, value.value_or(0)};
    send(to, "/done", std::span(args).first(value ? 2 : 1));
}

void ReplyPort::fail(const osc::Endpoint& to, std::string_view name, std::string_view text,
                     std::optional<int32_t> extra) {
    const std::array<osc::ReplyArg, 3> args{name, text, extra.value_or(0)};
    send(to, "/fail", std::span(args).first(extra ? 3 : 2));
}

bool ReplyPort::send_record(const osc::Endpoint& to, std::span<const std::byte> record) {
    bool all = true;
    std::vector<osc::ReplyArg> args;
    osc::ReplyReader reader(record);
    while (reader.next_message()) {
        args.clear();
        while (const auto arg = reader.next_arg())
            args.push_back(*arg);
        all = send(to, reader.address(), args) && all;
    }
    return all;
}

namespace osc {

std::optional<std::string> failure_line(std::string_view address, std::span<const ReplyArg> args) {
    const auto* name = args.size() < 2 ? nullptr : std::get_if<std::string_view>(&args[0]);
    const auto* text = name ? std::get_if<std::string_view>(&args[1]) : nullptr;
    if (address != "/fail" || !text) // a SendReply may have that address, too
        return {};
    std::string line = "FAILURE IN SERVER";
    if (*text == "Command not found")
        line += ':';
    line.append(" ").append(*name).append(" ").append(text->substr(0, text->find('\n')));
    return line;
}

} // namespace osc
} // namespace scs
