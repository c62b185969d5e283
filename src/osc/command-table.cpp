// SPDX-License-Identifier: GPL-3.0-or-later
#include "osc/command-table.hpp"

#include <array>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

namespace scs::osc {

namespace {

struct Index {
    std::array<const CommandSpec*, CommandNumber::end> by_number{};
    std::unordered_map<std::string_view, const CommandSpec*> by_name; ///< without the slash

    Index() {
        for (const auto& section : all_commands()) {
            for (const CommandSpec& spec : section) {
                if (spec.number.any())
                    by_number[spec.number.index()] = &spec;
                by_name.emplace(std::string_view(spec.name).substr(1), &spec);
            }
        }
    }
};

} // namespace

std::span<const std::span<const CommandSpec>> all_commands() {
    static const std::array sections{
        top_commands(),    definition_commands(), synth_commands(),   node_commands(), group_commands(),
        cost_commands(),   trace_commands(),      state_commands(),   bus_commands(),  buffer_commands(),
        plugin_commands(), binding_commands(),    pointer_commands(), midi_commands(), transport_commands(),
        link_commands(),   list_commands()};
    return sections;
}

SCS_UNPROVEN_BEGIN // the render path calls it when the index is made (PacketBinding)
const CommandSpec* find_command(const Message& message) noexcept {
    static const Index index;
    if (message.address.empty()) {
        const auto number = size_t(message.number);
        return message.number >= 0 && number < index.by_number.size() ? index.by_number[number] : nullptr;
    }
    const auto found = index.by_name.find(message.name());
    return found == index.by_name.end() ? nullptr : found->second;
}
SCS_UNPROVEN_END

bool has_types(std::span<const Arg> args, std::string_view types) noexcept {
    if (args.size() < types.size())
        return false;
    for (size_t i = 0; i < types.size(); ++i)
        if (types[i] != 'i' && types[i] != char(args[i].type))
            return false;
    return true;
}

std::string table_mistake(std::span<const std::span<const CommandSpec>> sections) {
    std::set<size_t> numbers;
    std::set<std::string> names;
    for (const auto& section : sections) {
        for (const CommandSpec& spec : section) {
            const std::string name = spec.name;
            if (!name.starts_with('/'))
                return name + " has no slash";
            if (!names.insert(name).second)
                return name + " has two rows";
            if (spec.number.any() && !numbers.insert(spec.number.index()).second)
                return name + " has the number of another command: " + std::to_string(spec.number.index());
            if (spec.handler && spec.make)
                return name + " has both a handler and a maker";
        }
    }
    return {};
}

} // namespace scs::osc
