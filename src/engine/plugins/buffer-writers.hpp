// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace scs {

class PluginRegistry;

/// [worker] Defines RecordBuf, BufWr, Dbufwr and DelTapWr. SuperCollider's write beside their buffer where a place lies
/// outside of it, or when a smaller one takes its place; these leave such samples out. All else is the same, to the
/// bit.
void define_buffer_writers(PluginRegistry&);

} // namespace scs
