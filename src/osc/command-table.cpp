// SPDX-License-Identifier: GPL-3.0-or-later
#include "osc/command-table.hpp"

#include <array>
#include <string_view>
#include <unordered_map>

namespace scs::osc {

namespace {

struct Index {
    std::array<const CommandSpec*, 67> by_number{};
    std::unordered_map<std::string_view, const CommandSpec*> by_name; ///< without the slash

    Index() {
        for (const auto& section : all_commands()) {
            for (const CommandSpec& spec : section) {
                if (spec.number >= 0)
                    by_number[static_cast<std::size_t>(spec.number)] = &spec;
                by_name.emplace(std::string_view(spec.name).substr(1), &spec);
            }
        }
    }
};

} // namespace

std::span<const std::span<const CommandSpec>> all_commands() {
    static const std::array sections{top_commands(),   definition_commands(), synth_commands(), node_commands(),
                                     group_commands(), bus_commands(),        buffer_commands(),
                                     plugin_commands()};
    return sections;
}

const CommandSpec* find_command(const Message& message) noexcept {
    static const Index index;
    if (message.address.empty()) {
        const auto number = static_cast<std::size_t>(message.number);
        return message.number >= 0 && number < index.by_number.size() ? index.by_number[number] : nullptr;
    }
    const auto found = index.by_name.find(message.name());
    return found == index.by_name.end() ? nullptr : found->second;
}

} // namespace scs::osc
