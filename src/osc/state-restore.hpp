// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/messages/command.hpp"
#include "osc/definition-sources.hpp"
#include "osc/server-state.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace scs {
class Engine;
}

namespace scs::osc {

struct Services;

/// What is to be made anew. Buffers' samples are free_samples()'s, and whoever restores them owns them then.
struct StateToRestore {
    std::vector<std::shared_ptr<const DefinitionSource>> definitions;
    std::vector<std::pair<int32_t, Buffer>> buffers; ///< by number, without streams
    std::shared_ptr<const TreeState> tree;           ///< null: none
};

/// [worker] Appends commands that restore it: SynthDefs are compiled and buffers become the worker's latest ones right
/// now, the data loop gets them, control buses and nodes when the bundle runs. `clears`: all nodes are freed before.
/// What can't be restored is left out; `report` gets a line for each SynthDef, the log one with the numbers of nodes.
void append_restore(CommandBundle&, StateToRestore&&, Services&, Engine&, bool clears,
                    const std::function<void(const std::string&)>& report);

/// [worker] The buffers that a broken engine leaves to the next one, which owns their samples then. `busy`: a job that
/// hangs may still write to this buffer, which isn't among them then. Buffers of files that are streamed begin with
/// zeros. None if the engine's memory of them is spoilt so that it can't be read.
std::vector<std::pair<int32_t, Buffer>> take_buffers(Engine& broken, const std::function<bool(int32_t)>& busy);

/// [worker] Reads a file that /state_save has written.
Result<StateToRestore> read_state(int fd, const AllocateSamples&);

} // namespace scs::osc
