// SPDX-License-Identifier: GPL-3.0-or-later
#include "osc/command-binding.hpp"

#include "osc/command-table.hpp"

#include <array>
#include <charconv>
#include <string_view>
#include <utility>

namespace scs::osc {

CommandBinding::CommandBinding(int32_t id, CommandSource source, const CommandInit& init, std::span<const Arg> args,
                               std::string& mistake)
    : Binding(id, source.source), s_(std::move(source)), packet_(init.packet) {
    if (args.empty() || args.front().type != Arg::Type::string || !args.front().text().starts_with('/')) {
        mistake = "a command is missing";
        return;
    }
    if (args.size() > most_arguments) {
        mistake = "the command has too many arguments";
        return;
    }
    args_.assign(args.begin() + 1, args.end());
    message_ = {args.front().text(), -1, args_};
    const CommandSpec* const spec = find_command(message_);
    mistake = find_slots();
    if (!spec || !spec->bindable)
        mistake = std::string(message_.address) + " can't be bound";
    else if (mistake.empty() && !has_types(args_, spec->types))
        mistake = std::string(message_.address) + ": wrong argument type";
    if (mistake.empty())
        command_ = std::make_unique<RepeatedCommand>(CommandInit{packet_, &message_, spec, init.services, init.from},
                                                     "binding " + std::to_string(id));
}

/// Replaces words that stand for values by numbers. Returns what is wrong; empty if nothing is.
std::string CommandBinding::find_slots() {
    for (size_t i = 0; i < args_.size(); ++i) {
        Arg& arg = args_[i];
        if (arg.type != Arg::Type::string || !arg.text().starts_with('$'))
            continue;
        const std::string_view word = arg.text().substr(1);
        const char* const end = word.data() + word.size();
        size_t value = 0;
        const auto read = std::from_chars(word.data(), end, value);
        const bool numbered = read.ptr == end && read.ec == std::errc() && value >= 1 && value <= most_values;
        if (!numbered && word != "node")
            return std::string(arg.text()) + " is no value: there are $node, and $1 to $" + std::to_string(most_values);
        slots_.push_back({i, numbered ? value : 0});
        arg = {};
        arg.type = numbered ? Arg::Type::float32 : Arg::Type::int32;
    }
    return {};
}

bool CommandBinding::hears(const SynthEvent& event) const noexcept {
    const bool source = s_.kind == CommandSource::Kind::trigger ? event.path.empty() : event.path == s_.path;
    return hears_synths() && source && (s_.id < 0 || event.id == s_.id) && (s_.node < 0 || event.node == s_.node);
}

void CommandBinding::begin(int32_t node, std::span<const float> values) noexcept {
    for (const auto& [arg, value] : slots_) {
        if (value == 0)
            args_[arg].i = node;
        else
            args_[arg].f = value <= values.size() ? values[value - 1] : 0.f;
    }
    command_->begin(args_);
}

void CommandBinding::handle(const SynthEvent& event, BindingTargets&) noexcept {
    begin(event.node, event.values);
}

void CommandBinding::handle(const ControlEvent& event, BindingTargets&) noexcept {
    if (hears_synths() || event.kind != s_.event || (s_.number >= 0 && event.number != s_.number))
        return;
    begin(0, std::array{event.value, float(event.number)});
}

bool CommandBinding::go_on() noexcept {
    return command_->go_on();
}

} // namespace scs::osc
