// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/command-runner.hpp"
#include "engine/control/bindings.hpp"
#include "engine/control/control-outputs.hpp"
#include "engine/control/transport-requests.hpp"
#include "engine/cycle.hpp"
#include "engine/definitions/definitions.hpp"
#include "engine/engine.hpp"
#include "engine/ensemble/ensemble.hpp"
#include "engine/messages/inbox.hpp"
#include "engine/messages/outbox.hpp"
#include "engine/plugins/plugin-host.hpp"
#include "engine/plugins/plugin-world.hpp"
#include "engine/render/renderer.hpp"
#include "engine/rt/kept-pools.hpp"
#include "engine/rt/pool.hpp"
#include "engine/schedule/trace.hpp"
#include "engine/tree/shedding.hpp"
#include "engine/tree/tree.hpp"
#include "engine/world/output-ports.hpp"
#include "engine/world/shared-memory.hpp"
#include "engine/world/streams.hpp"

#include <memory>
#include <utility>

namespace scs {

inline constexpr size_t event_ring_bytes = size_t(1) << 20;

/// What an engine is made of, in the order in which it is made. Only the engine's own files include this.
struct EngineParts final : PluginHost {
    EngineParts(Engine& engine, const Settings& s, KeptPools::Owner real_time_memory, SharedMemory* shared,
                Streams& streams, EngineStatus& status, const NanoClock& clock, std::shared_ptr<HelperPool> helpers)
        : trace(std::make_shared<Trace>(s.threads)),
          pool(std::move(real_time_memory)),
          inbox(Engine::most_bundles),
          outbox(event_ring_bytes, status.dropped_events),
          buses(s, shared ? shared->control_buses() : nullptr),
          buffers(s.buffers, streams),
          definitions(s.max_synthdefs),
          world(s, *this, buses, buffers, *pool, outbox, shared ? &shared->scopes() : nullptr),
          outputs(s),
          ensemble(s, buses, buffers, world.random(), *pool, deadline, *trace, std::move(helpers)),
          tree(std::make_unique<Tree>(s, buses, world, ensemble, *pool, outbox, deadline)),
          renderer(*tree, buses, ensemble, outbox, deadline),
          bindings({*tree, definitions, buses, buffers, outbox}, world, deadline),
          commands(engine, s, inbox, outbox, deadline, *tree, world, definitions, status),
          shedding(s, *tree, outbox, deadline, status),
          cycle(*this, s, status, streams.counts(), clock) {}

    Node* find_node(int32_t id) noexcept override { return tree ? tree->find(id) : nullptr; }
    void end_node(Node& node) noexcept override { tree->runs().end(node); }
    void set_run(Node& node, bool run) noexcept override { tree->runs().set_run(node, run); }
    void free_left(Synth& synth) noexcept override {
        if (tree)
            tree->freeing().free_left(synth);
    }
    void hear(const SynthEvent& event) noexcept SCS_NONBLOCKING override {
        bindings.hear(event);
        control_outputs.hear(event);
    }
    bool finish_job(Command* command) noexcept override { return inbox.finish_job(command); }

    const std::shared_ptr<Trace> trace;
    KeptPools::Owner pool;
    Inbox inbox;
    Deadline deadline;
    Outbox outbox;
    Buses buses;
    Buffers buffers;
    Definitions definitions;
    PluginWorld world;
    OutputPorts outputs;
    Ensemble ensemble;
    std::unique_ptr<Tree> tree; ///< destroyed first: its nodes still emit events to the outbox
    Renderer renderer;
    Bindings bindings;
    ControlOutputs control_outputs;
    TransportRequests transport_requests;
    CommandRunner commands;
    Shedding shedding;
    Cycle cycle;
};

} // namespace scs
