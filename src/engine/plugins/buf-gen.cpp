// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/plugins/buf-gen.hpp"

#include "engine/guard/fault-guard.hpp"
#include "engine/plugins/osc-arguments.hpp"
#include "engine/plugins/plugin-world-abi.hpp"
#include "engine/plugins/registry.hpp"
#include "engine/units/unit-facts.hpp"
#include "engine/world/buffers-abi.hpp"

#include <array>
#include <bit>
#include <cstdint>
#include <type_traits>

namespace scs {

namespace {

bool prepare_part_conv_fits(const ::World& world, const ::SndBuf& target, sc_msg_iter message) {
    const auto source = uint32_t(message.geti());
    const int points = message.geti();
    const ::SndBuf& from = world.mSndBufs[source < world.mNumSndBufs ? source : 0];
    return from.data && spectra_fit(from.frames, points, target.samples);
}

/// Whether a generator that was asked for a wavetable, which is made of pairs of samples, has one sample too many.
bool splits_pair(std::string_view name, const ::SndBuf& target, sc_msg_iter message) {
    constexpr int wavetable = 2;
    const bool makes_pairs = name == "cheby" || name == "sine1" || name == "sine2" || name == "sine3";
    return makes_pairs && target.channels == 1 && target.samples % 2 && (message.geti() & wavetable);
}

/// The data loop counts blocks and nodes in it meanwhile: each number is one that it had.
[[gnu::noinline, gnu::no_sanitize_thread]] AbiWorld copy_of(const AbiWorld& world) noexcept {
    static_assert(std::is_trivially_copyable_v<AbiWorld> && sizeof(AbiWorld) % sizeof(uint64_t) == 0);
    std::array<uint64_t, sizeof(AbiWorld) / sizeof(uint64_t)> words;
    const auto* from = reinterpret_cast<const volatile uint64_t*>(&world);
    for (uint64_t& word : words)
        word = *from++;
    return std::bit_cast<AbiWorld>(words);
}

} // namespace

BufGenOutcome run_buf_gen(PluginWorld& world, int buffer, std::string_view name, std::span<const std::byte> arguments,
                          float*& replaced_data) {
    replaced_data = nullptr;
    const BufGen generator = PluginRegistry::instance().find_buf_gen(name, world.plugins());
    if (!generator)
        return BufGenOutcome::unknown;
    Buffers& buffers = world.buffers();
    ::SndBuf& target = buffers.abi().latest[size_t(buffer)];
    const Buffer before = buffers.latest(buffer);
    sc_msg_iter message = read_arguments(arguments);
    // Generators may read other buffers: they must see the worker's state of those, too.
    AbiWorld seen = copy_of(world.abi().lasting.world(generator.api));
    seen.abi.mSndBufs = buffers.abi().latest.data();
    if (!target.data)
        return BufGenOutcome::done;
    if (name == "PreparePartConv" && !prepare_part_conv_fits(seen.abi, target, message))
        return BufGenOutcome::does_not_fit;
    if (splits_pair(name, target, message))
        return BufGenOutcome::odd_length;
    if (!FaultGuard::run([&] { generator.run(&seen.abi, &target, &message); })) {
        buffers.set_latest(buffer, before);
        return FaultGuard::last_ending() == FaultGuard::Ending::endless ? BufGenOutcome::endless
                                                                        : BufGenOutcome::crashed;
    }
    if (target.data != before.data)
        replaced_data = before.data;
    return BufGenOutcome::done;
}

} // namespace scs
