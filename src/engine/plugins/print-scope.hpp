// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace scs {

class Engine;

/// The engine that this thread renders for, or null. [any]
Engine* rendering_engine() noexcept;

/// Says which engine this thread renders for while it lives, so that a plugin's Print, which carries no
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
