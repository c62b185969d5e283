// SPDX-License-Identifier: GPL-3.0-or-later
#include "osc/command-binding.hpp"

#include "osc/command-table.hpp"

#include <array>
#include <charconv>
#include <string_view>
#include <utility>

namespace scs::osc {

CommandBinding::CommandBinding(int32_t id, CommandSource source, Services& services, std::span<const Arg> args,
                               std::string& mistake)
    : Binding(id, source.kind == CommandSource::Kind::beat ? source.beats.source : source.source),
      s_(std::move(source)),
      follower_(s_.beats),
      division_(s_.division, s_.offset) {
    if (args.empty() || args.front().type != Arg::Type::string || !args.front().text().starts_with('/')) {
        mistake = "a command is missing";
        return;
    }
    mistake = copy(args);
    if (!mistake.empty())
        return;
    message_ = {args_.front().text(), -1, std::span<const Arg>(args_).subspan(1)};
    const CommandSpec* const spec = find_command(message_);
    mistake = find_slots();
    if (!spec || !spec->bindable)
        mistake = std::string(message_.address) + " can't be bound";
    else if (mistake.empty() && !has_types(message_.args, spec->types))
        mistake = std::string(message_.address) + ": wrong argument type";
    if (mistake.empty())
        command_ = std::make_unique<RepeatedCommand>(CommandInit{nullptr, &message_, spec, &services, {}},
                                                     "binding " + std::to_string(id));
}

/// Takes the arguments, and what they point to: the packet that they are in may be much larger. Returns what is wrong;
/// empty if nothing is.
std::string CommandBinding::copy(std::span<const Arg> args) {
    size_t bytes = 0;
    for (const Arg& arg : args) {
        if (arg.type == Arg::Type::blob)
            return "a bound command has no blobs";
        bytes += arg.size;
    }
    if (args.size() > most_arguments || bytes > most_bytes)
        return "the command is too long";
    args_.assign(args.begin(), args.end());
    for (Arg& arg : args_)
        if (arg.type == Arg::Type::string)
            arg.s = words_.emplace_back(arg.text()).c_str();
    return {};
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
    command_->begin(message_.args);
}

void CommandBinding::handle(const SynthEvent& event, BindingTargets&) noexcept {
    begin(event.node, event.values);
}

void CommandBinding::handle(const ControlEvent& event, BindingTargets& targets) noexcept {
    if (s_.kind == CommandSource::Kind::beat)
        return follower_.handle(event, targets.seconds);
    if (hears_synths() || event.kind != s_.event || (s_.number >= 0 && event.number != s_.number))
        return;
    const std::array values{event.value, float(event.number), float(event.port)};
    begin(0, std::span(values).first(event.of_device() ? 3 : 2));
}

int CommandBinding::act(const BlockStart& block, int until, BindingTargets& targets) noexcept {
    if (s_.kind != CommandSource::Kind::beat)
        return -1;
    const int frame = division_.next(follower_, block, targets.block, until, targets.refused);
    if (frame < 0)
        return -1;
    const Beats& found = division_.found();
    const InBar place = in_bar(found.beat, found.beats_per_bar);
    begin(0, std::array{float(found.beat), place.bar, place.beat, float(found.tempo)});
    return frame;
}

bool CommandBinding::go_on() noexcept {
    return command_->go_on();
}

} // namespace scs::osc
