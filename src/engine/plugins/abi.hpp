// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// SuperCollider's plugin ABI as the supernova builds of its UGens see it. Only files of this folder include it.
#define SUPERNOVA 1
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

struct Node;
struct Synth;
class World;

// The binaries were compiled against these sizes; another compiler or header here would corrupt the daemon.
static_assert(sizeof(::World) == 384 && sizeof(::SndBuf) == 64 && sizeof(::Unit) == 104);
static_assert(sizeof(::Graph) == 216 && sizeof(::Wire) == 32 && sizeof(::Rate) == 72);
static_assert(sizeof(::InterfaceTable) == 320);

/// The ABI's objects with the way back to ours behind them.
struct AbiWorld {
    ::World abi;
    World* owner;
};
struct AbiNode {
    ::Node abi;
    Node* owner;
};
struct AbiGraph {
    ::Graph abi;
    Synth* owner;
};

inline World& owner_of(::World* world) noexcept {
    return *reinterpret_cast<AbiWorld*>(world)->owner;
}

/// Any node that we gave out, synth or group.
Node& owner_of(::Node* node) noexcept;

} // namespace scs
