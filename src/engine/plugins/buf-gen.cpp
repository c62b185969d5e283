// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/plugins/buf-gen.hpp"

#include "engine/engine.hpp"
#include "engine/plugins/fault-guard.hpp"
#include "engine/plugins/registry.hpp"
#include "engine/plugins/world-abi.hpp"
#include "engine/plugins/world.hpp"

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

bool run_buf_gen(Engine& engine, int buffer, std::string_view name, std::span<const std::byte> arguments,
                 float*& replaced_data) {
    replaced_data = nullptr;
    const BufGenFunc run = PluginRegistry::instance().find_buf_gen(name);
    if (!run)
        return false;
    ::SndBuf& target = engine.buffers().abi().latest[size_t(buffer)];
    float* const before = target.data;
    alignas(4) static constexpr char none[4] = {','};
    if (arguments.empty()) // the iterator reads the first byte whatever the size
        arguments = std::as_bytes(std::span(none));
    sc_msg_iter message(int(arguments.size()), reinterpret_cast<const char*>(arguments.data()));
    // Generators that read another buffer must see the worker's state of it, as they do of this one.
    AbiWorld world = engine.world().abi().world;
    world.abi.mSndBufs = engine.buffers().abi().latest.data();
    if (target.data && (name != "PreparePartConv" || spectra_fit(world.abi, target, message)))
        (void)FaultGuard::run([&] { run(&world.abi, &target, &message); });
    if (target.data != before)
        replaced_data = before;
    return true;
}

} // namespace scs
