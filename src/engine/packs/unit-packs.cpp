// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/packs/unit-packs.hpp"

#include "engine/packs/file-bytes.hpp"
#include "engine/units/unit-facts.hpp"

#include <algorithm>

namespace scs {
namespace {

constexpr size_t most_bytes = 64u << 20; ///< of all files that are searched for one unit
constexpr std::string_view unpack = "unpack it into ~/.local/share/SuperCollider/Extensions and start the server anew";

/// Packs all of whose units begin alike.
struct Pack {
    std::string_view beginning, name;
};
constexpr Pack packs[] = {
    {"Fluid", "FluCoMa (https://www.flucoma.org)"},
    {"Mi", "mi-UGens (https://github.com/v7b1/mi-UGens)"},
    {"VSTPlugin", "VSTPlugin (https://git.iem.at/pd/vstplugin)"},
};

bool is_of(const Pack& pack, std::string_view unit) {
    const bool longer = unit.size() > pack.beginning.size();
    return unit.starts_with(pack.beginning) &&
           (!longer || (unit[pack.beginning.size()] >= 'A' && unit[pack.beginning.size()] <= 'Z'));
}

/// A file that defines a unit has its name as a string.
bool mentions(const std::vector<std::byte>& file, std::string_view unit) {
    const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
    const std::string whole = '\0' + std::string(unit) + '\0';
    return text.find(whole) != text.npos;
}

const LeftOut* find_left_out(std::string_view unit, const std::vector<LeftOut>& files) {
    size_t left = most_bytes;
    for (const LeftOut& each : files) {
        const FileBytes read = read_file(each.path, left);
        left -= read.bytes.size();
        if (mentions(read.bytes, unit))
            return &each;
    }
    return nullptr;
}

} // namespace

std::string advice_on_missing(std::string_view unit, const std::vector<LeftOut>& files, bool own_searched) {
    if (const LeftOut* file = find_left_out(unit, files))
        return file->path + " has it, but isn't loaded: " + file->why;
    if (find_unit_facts(unit))
        return own_searched
                   ? "it is of sc3-plugins: install them (package sc3-plugins-server) and start the server anew"
                   : "it is of SuperCollider or sc3-plugins (packages supercollider-server, sc3-plugins-server), "
                     "and scsynth.ugen-path or -U names other folders; a colon before these adds SuperCollider's";
    const auto* pack =
        std::find_if(std::begin(packs), std::end(packs), [&](const Pack& each) { return is_of(each, unit); });
    const std::string whose = pack != std::end(packs) ? "it is of " + std::string(pack->name) + ": "
                                                      : "no plugin file has it. If it is of a pack, ";
    return whose + std::string(unpack);
}

} // namespace scs
