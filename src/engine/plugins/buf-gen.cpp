// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/plugins/buf-gen.hpp"

#include "engine/engine.hpp"
#include "engine/plugins/fault-guard.hpp"
#include "engine/plugins/osc-arguments.hpp"
#include "engine/plugins/registry.hpp"
#include "engine/plugins/world-abi.hpp"
#include "engine/plugins/world.hpp"

namespace scs {

bool has_buf_gen(std::string_view name) {
    return PluginRegistry::instance().find_buf_gen(name) != nullptr;
}

BufGenOutcome run_buf_gen(Engine& engine, int buffer, std::string_view name, std::span<const std::byte> arguments,
                          float*& replaced_data) {
    replaced_data = nullptr;
    const BufGenFunc run = PluginRegistry::instance().find_buf_gen(name);
    if (!run)
        return BufGenOutcome::unknown;
    ::SndBuf& target = engine.buffers().abi().latest[size_t(buffer)];
    const Buffer before = engine.buffers().latest(buffer);
    sc_msg_iter message = read_arguments(arguments);
    // Generators that read another buffer must see the worker's state of it, as they do of this one.
    AbiWorld world = engine.world().abi().world;
    world.abi.mSndBufs = engine.buffers().abi().latest.data();
    if (target.data && !FaultGuard::run([&] { run(&world.abi, &target, &message); })) {
        engine.buffers().set_latest(buffer, before);
        return BufGenOutcome::crashed;
    }
    if (target.data != before.data)
        replaced_data = before.data;
    return BufGenOutcome::done;
}

} // namespace scs
