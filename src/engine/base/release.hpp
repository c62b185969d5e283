// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace scs {

/// Releases of SuperCollider whose units sound differently: 3.14 changed what many of them start with.
enum class Release : uint8_t { v3_13, v3_14 };

/// [any] As in the setting "supercollider": "3.13" for it and those before it, "3.14" for it and those after it.
constexpr std::string_view name_of(Release release) {
    return release == Release::v3_13 ? "3.13" : "3.14";
}

/// [any] The release of this name, or nothing.
constexpr std::optional<Release> release_named(std::string_view name) {
    for (const Release release : {Release::v3_13, Release::v3_14})
        if (name == name_of(release))
            return release;
    return {};
}

} // namespace scs
