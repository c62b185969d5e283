// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/plugins/abi.hpp"

#include <functional>
#include <string>

namespace scs {

class Engine;

/// The functions that plugins call. One a process.
::InterfaceTable* interface_table();

/// Says which engine this thread renders or works for while it lives, so that a plugin's Print, which carries no
/// context, reaches that engine's log.
class PrintScope {
public:
    explicit PrintScope(Engine&) noexcept;
    ~PrintScope();
    PrintScope(const PrintScope&) = delete;
    PrintScope& operator=(const PrintScope&) = delete;

private:
    Engine* outer_;
};

} // namespace scs
