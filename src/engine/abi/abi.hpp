// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// SuperCollider's plugin ABI as the builds of UGens for scsynth see it, which every pack has. Those for supernova
// (*_supernova.so) have other layouts of World and SndBuf, and a process can't host both. Only src/engine/world,
// src/engine/plugins and src/probe include it: it defines names of ours (Node, Group, World …) in the global namespace.
#include <SC_BufGen.h>
#include <SC_FifoMsg.h>
#include <SC_Graph.h>
#include <SC_InterfaceTable.h>
#include <SC_Node.h>
#include <SC_Rate.h>
#include <SC_SndBuf.h>
#include <SC_Unit.h>
#include <SC_Wire.h>
#include <SC_World.h>
#include <sc_msg_iter.h>
#undef Print
#undef RanSeed
#undef NodeEnd
#undef NodeRun
#undef SendTrigger
#undef DoneAction
#undef BufAlloc
#undef scfft_create
#undef scfft_dofft
#undef scfft_doifft
#undef scfft_destroy

namespace scs {

// The plugins' binaries were compiled with these sizes. Different ones here would corrupt the daemon's memory.
static_assert(sizeof(::World) == 368 && sizeof(::SndBuf) == 56 && sizeof(::Unit) == 104);
static_assert(sizeof(::Graph) == 216 && sizeof(::Wire) == 32 && sizeof(::Rate) == 72);
static_assert(sizeof(::InterfaceTable) == 320);

} // namespace scs
