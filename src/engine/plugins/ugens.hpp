// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/release.hpp"
#include "engine/base/result.hpp"
#include "engine/synthdef/ugen-catalog.hpp"

#include <functional>
#include <string>

namespace scs {

struct Settings;

/// [any] The UGens that this process has loaded so far. All its engines share them.
const UgenCatalog& installed_ugens();

/// [worker] Loads the plugin files of `path` (colon-separated folders; empty: SuperCollider's own) that aren't
/// loaded yet; see PluginRegistry::load().
Result<int> load_ugens(const std::string& path, const std::function<void(const std::string&)>& report);

/// [any] Whose units the native ones sound as, once plugins are loaded: what the settings say, or else the plugins.
Release release_to_follow(const Settings&);

} // namespace scs
