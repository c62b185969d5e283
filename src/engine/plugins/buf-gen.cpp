// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/plugins/buf-gen.hpp"

#include "engine/guard/fault-guard.hpp"
#include "engine/plugins/osc-arguments.hpp"
#include "engine/plugins/registry.hpp"
#include "engine/plugins/plugin-world-abi.hpp"
#include "engine/world/buffers-abi.hpp"

namespace scs {

namespace {

/// PreparePartConv writes a spectrum for each piece of its source without looking at the size of its target.
bool spectra_fit(const ::World& world, const ::SndBuf& target, sc_msg_iter message) {
    const auto source = uint32_t(message.geti());
    const int points = message.geti();
    if (points < 2)
        return false;
    const ::SndBuf& from = world.mSndBufs[source < world.mNumSndBufs ? source : 0];
    const int piece = points / 2;
    const int64_t pieces = (int64_t(from.frames) + piece - 1) / piece;
    return from.data && pieces * points <= target.samples;
}

} // namespace

bool has_buf_gen(std::string_view name) {
    return PluginRegistry::instance().find_buf_gen(name) != nullptr;
}

BufGenOutcome run_buf_gen(PluginWorld& world, int buffer, std::string_view name, std::span<const std::byte> arguments,
                          float*& replaced_data) {
    replaced_data = nullptr;
    const BufGenFunc run = PluginRegistry::instance().find_buf_gen(name);
    if (!run)
        return BufGenOutcome::unknown;
    Buffers& buffers = world.buffers();
    ::SndBuf& target = buffers.abi().latest[size_t(buffer)];
    const Buffer before = buffers.latest(buffer);
    sc_msg_iter message = read_arguments(arguments);
    // Generators that read another buffer must see the worker's state of it, as they do of this one.
    AbiWorld seen = world.abi().world;
    seen.abi.mSndBufs = buffers.abi().latest.data();
    if (!target.data)
        return BufGenOutcome::done;
    if (name == "PreparePartConv" && !spectra_fit(seen.abi, target, message))
        return BufGenOutcome::does_not_fit;
    if (!FaultGuard::run([&] { run(&seen.abi, &target, &message); })) {
        buffers.set_latest(buffer, before);
        return BufGenOutcome::crashed;
    }
    if (target.data != before.data)
        replaced_data = before.data;
    return BufGenOutcome::done;
}

} // namespace scs
