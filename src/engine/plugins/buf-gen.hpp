// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace scs {

class PluginWorld;

enum class BufGenOutcome { done, unknown, crashed, endless, does_not_fit, odd_length };

/// [worker] Runs a generator on the worker's copy of a buffer (Buffers::latest). `buffer` must be in range.
/// `arguments`: what follows the generator's name, as an OSC message without its address (type tags, then arguments),
/// 4-byte aligned. A generator works in place. If it gave the buffer other data, the old data is returned, to be freed
/// when the new buffer is installed; else null. If it crashes, or takes too long, the buffer keeps its data, with what
/// was written to it until then. A generator whose result the buffer can't hold isn't run.
BufGenOutcome run_buf_gen(PluginWorld&, int buffer, std::string_view name, std::span<const std::byte> arguments,
                          float*& replaced_data);

} // namespace scs
