// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/abi/plugin-api.hpp"
#include "engine/base/settings.hpp"
#include "engine/synthdef/ugen-catalog.hpp"

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace scs {

struct BufferNeed;

/// A unit's own command (/u_cmd). One of them is null.
struct UnitCommand {
    UnitCmdFunc run = nullptr;
    FunctionsOf315::AddressedCommand run_addressed = nullptr; ///< gets the address that it may answer, too
};

/// A buffer generator (/b_gen).
struct BufGen {
    BufGenFunc run = nullptr;
    PluginApi api = PluginApi::v3;
    bool operator==(const BufGen&) const = default;
    explicit operator bool() const noexcept { return run; }
};

/// A UGen of a plugin file. UgenInfo::entry points to it.
struct UgenEntry {
    UgenInfo info;
    UnitCtorFunc construct = nullptr;
    UnitDtorFunc destroy = nullptr;   ///< may be null
    const BufferNeed* need = nullptr; ///< null: none
    PluginApi api = PluginApi::v3;
    std::map<std::string, UnitCommand, std::less<>> commands;
};

/// A plugin's own server command (/cmd).
struct PluginCommand {
    PluginCommand(PlugInCmdFunc function, void* data, PluginApi of) : run(function), user_data(data), api(of) {}

    PlugInCmdFunc run;
    void* user_data;
    PluginApi api;
    int from = 0;                                ///< the first generation that has it
    std::atomic<int> until = newest_plugins + 1; ///< the first one that doesn't any more
    const PluginCommand* before = nullptr;       ///< what had its name before

    /// [rt] The one that an engine of that generation has, or null.
    const PluginCommand* as_of(int generation) const noexcept {
        const PluginCommand* each = this;
        while (each && (generation < each->from || generation >= each->until.load(std::memory_order_relaxed)))
            each = each->before;
        return each;
    }
};

/// What one plugin file defines.
struct PluginUnits {
    std::map<std::string, std::unique_ptr<UgenEntry>, std::less<>> ugens;
    std::map<std::string, BufGen, std::less<>> buf_gens;
    std::map<std::string, std::vector<std::unique_ptr<PluginCommand>>, std::less<>> commands; ///< the last one counts
};

} // namespace scs
