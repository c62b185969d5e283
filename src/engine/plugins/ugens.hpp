// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/release.hpp"
#include "engine/base/result.hpp"
#include "engine/base/settings.hpp"
#include "engine/synthdef/ugen-catalog.hpp"

#include <functional>
#include <string>
#include <string_view>

namespace scs {

/// [any] The newest UGens that this process has loaded so far.
const UgenCatalog& installed_ugens();

/// The UGens that an engine sees: files that change while it lives are no matter to it. All engines of a process share
/// what hasn't changed.
class UgensOf final : public UgenCatalog {
public:
    explicit UgensOf(const Settings& engine) : plugins_(engine.plugins), path_(engine.ugen_path) {}
    const UgenInfo* find(std::string_view name) const override;
    std::string advice(std::string_view name) const override;

private:
    int plugins_;
    std::string path_;
};

/// [worker] Loads the plugin files of `path` (colon-separated folders; empty: SuperCollider's own) that aren't
/// loaded yet, or have changed; see PluginRegistry::load(). Returns what becomes Settings::plugins.
Result<int> load_ugens(const std::string& path, const std::function<void(const std::string&)>& report);

/// [any] Whose units the native ones sound as, once plugins are loaded: what the settings say, or else the plugins.
Release release_to_follow(const Settings&);

} // namespace scs
