// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace scs {

class PluginWorld;

/// [any] Whether a plugin brought a buffer generator of this name (sine1, cheby, copy …).
bool has_buf_gen(std::string_view name);

enum class BufGenOutcome { done, unknown, crashed, does_not_fit };

/// [worker] Runs it on the worker's copy of a buffer (Buffers::latest), in range. `arguments`: an OSC message
/// without its address: type tags, then arguments, from what follows the generator's name on; 4-byte aligned.
/// It works in place; if it gave the buffer other data, the old data is returned for freeing after the new
/// buffer has been installed, else null. One that crashes is ended where it stood: the
/// buffer keeps the data it had, with what was written into them. One whose result the buffer can't hold isn't run.
BufGenOutcome run_buf_gen(PluginWorld&, int buffer, std::string_view name, std::span<const std::byte> arguments,
                          float*& replaced_data);

} // namespace scs
