// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/packs/unit-packs.hpp"

#include "engine/packs/file-bytes.hpp"
#include "engine/units/unit-facts.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

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

std::string_view file_name(std::string_view path) {
    return path.substr(path.rfind('/') + 1); // the whole, if there is no slash
}

/// Which of the files has the unit; nothing: none, or it can't be told.
std::optional<size_t> search(std::string_view unit, const std::vector<LeftOut>& files) {
    std::vector<size_t> found;
    size_t left = most_bytes;
    for (size_t i = 0; i < files.size(); ++i) {
        const FileBytes read = read_file(files[i].path, left);
        left -= read.bytes.size();
        if (!mentions(read.bytes, unit))
            continue;
        const std::string_view name = file_name(files[i].path);
        if (name.substr(0, name.rfind('.')) == unit)
            return i;
        found.push_back(i);
    }
    // A file may also know the name of another one's unit.
    return found.size() == 1 ? std::optional(found[0]) : std::nullopt;
}

} // namespace

void MissingUnits::set_files(std::vector<LeftOut> left_out, std::vector<std::string> loaded) {
    const std::lock_guard lock(mutex_);
    loaded_ = std::move(loaded);
    if (left_out_ == left_out)
        return;
    left_out_ = std::move(left_out);
    found_.clear();
}

const LeftOut* MissingUnits::find(std::string_view unit) {
    auto known = found_.find(unit);
    if (known == found_.end()) {
        if (found_.size() >= most_searches)
            return nullptr;
        known = found_.emplace(unit, search(unit, left_out_)).first;
    }
    return known->second ? &left_out_[*known->second] : nullptr;
}

std::string MissingUnits::advice(std::string_view unit, bool own_searched) {
    const std::lock_guard lock(mutex_);
    if (const LeftOut* file = find(unit))
        return file->path + " has it, but isn't loaded: " + file->why;
    if (find_unit_facts(unit))
        return own_searched
                   ? "it is of sc3-plugins: install them (package sc3-plugins-server) and start the server anew"
                   : "it is of SuperCollider or sc3-plugins (packages supercollider-server, sc3-plugins-server), "
                     "and scsynth.ugen-path or -U names other folders; a colon before these adds SuperCollider's";
    return advice_on_pack(unit);
}

std::string MissingUnits::advice_on_pack(std::string_view unit) const {
    const auto* pack =
        std::find_if(std::begin(packs), std::end(packs), [&](const Pack& each) { return is_of(each, unit); });
    if (pack == std::end(packs))
        return "no plugin file has it. If it is of a pack, " + std::string(unpack);
    const std::string whose = "it is of " + std::string(pack->name);
    // The pack is there, so it needn't be unpacked. Which of its files has the unit, its name alone doesn't tell.
    const auto is_part = [&](std::string_view path) { return is_of(*pack, file_name(path)); };
    const auto lacks = std::ranges::count_if(left_out_, is_part, &LeftOut::path);
    if (lacks > 0) {
        const LeftOut& first = *std::ranges::find_if(left_out_, is_part, &LeftOut::path);
        return whose + ", of which " + std::to_string(lacks) + (lacks == 1 ? " file isn't" : " files aren't") +
               " loaded: " + first.path + ": " + first.why + (lacks == 1 ? "" : " …");
    }
    if (std::ranges::any_of(loaded_, is_part))
        return whose + ", but no file of it that is installed has it: perhaps its newest version does";
    return whose + ": " + std::string(unpack);
}

} // namespace scs
