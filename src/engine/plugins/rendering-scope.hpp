// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/nonblocking.hpp"

namespace scs {

class PluginWorld;

/// The world that this thread renders, or null. [any]
PluginWorld* rendering_world() noexcept;

/// While it lives, rendering_world() is that world on this thread. Plugins' Print and FFT calls need it, as they carry
/// no context.
class RenderingScope {
public:
    explicit RenderingScope(PluginWorld&) noexcept SCS_NONBLOCKING;
    ~RenderingScope() noexcept SCS_NONBLOCKING;
    RenderingScope(const RenderingScope&) = delete;
    RenderingScope& operator=(const RenderingScope&) = delete;

private:
    PluginWorld* outer_;
};

} // namespace scs
