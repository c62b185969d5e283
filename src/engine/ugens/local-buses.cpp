// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/synthdef/own-rate.hpp"
#include "engine/ugens/buses.hpp"
#include "engine/ugens/families.hpp"
#include "engine/ugens/memory.hpp"
#include "engine/ugens/rows.hpp"

namespace scs::SCS_SIMD {
namespace {

// A voice's private buses. LocalOut writes them. LocalIn reads what was written in this block or the one before, or
// else its defaults. They share LocalIn's state.

template <int N>
struct LocalState {
    static constexpr size_t items64 = 1;
    float* buses[N]; ///< a row for each channel; null without memory
    int32_t channels[N], touched[N];
};

/// The number of a voice's block.
SCS_INLINE uint32_t number_of(const Block& block) {
    return block.ticks ? block.ticks->number : uint32_t(block.space->block_number);
}

template <bool Audio>
struct Local {
    /// Blocks since the buses were written.
    template <class State>
    SCS_INLINE static uint32_t age(const State& s, const Block& block, int lane) {
        return number_of(block) - uint32_t(s.touched[lane]);
    }
    SCS_INLINE static int frames(const Block& block) { return Audio ? block.frames : 1; }
    template <class State>
    SCS_INLINE static bool filled(const State& s, const Block& block, int lane) {
        return s.buses[lane] && age(s, block, lane) <= 1;
    }
    template <class State>
    SCS_INLINE static float preset(const State& s, const Op& op, const Block& block, int lane, int channel) {
        return s.buses[lane] && channel < op.inputs ? input(op, block, size_t(channel))[lane] : 0.f;
    }

    // ---- LocalIn

    template <int L>
    struct In {
        static void run(const Op& op, Block& block) SCS_NONBLOCKING {
            const auto& s = state<LocalState<L>>(op, block);
            for (int c = 0; c < op.outputs; ++c)
                channel(s, op, block, c);
        }
        SCS_INLINE static void channel(const LocalState<L>& s, const Op& op, Block& block, int c) {
            float* to = output(op, block, size_t(c));
            const int n = frames(block);
            const float* rows[L] = {};
            each_lane<L>(block, [&](int lane) {
                rows[lane] = filled(s, block, lane) ? s.buses[lane] + c * n : nullptr;
                if (!Audio)
                    to[lane] = rows[lane] ? *rows[lane] : preset(s, op, block, lane, c);
            });
            if constexpr (Audio && L == 1) {
                if (rows[0])
                    return copy(to, rows[0], n);
            } else if constexpr (Audio) {
                weave(block, rows, to);
            }
            if constexpr (Audio)
                each_lane<L>(block, [&](int lane) {
                    const float value = preset(s, op, block, lane, c);
                    if (!rows[lane])
                        for (int i = 0; i < n; ++i)
                            to[i * L + lane] = value;
                });
        }
    };

    static void start(const Op& op, Block& block) SCS_NONBLOCKING {
        auto& s = state<LocalState<1>>(op, block);
        s.buses[0] = claim<float>(block, size_t(op.outputs) * size_t(frames(block)));
        s.channels[0] = op.outputs;
        s.touched[0] = int32_t(number_of(block) - 2);
        for (int c = 0; c < op.outputs; ++c)
            *output(op, block, size_t(c)) = preset(s, op, block, 0, c);
    }

    // ---- LocalOut

    template <int L>
    struct Out {
        static void run(const Op& op, Block& block) SCS_NONBLOCKING {
            auto& s = state<LocalState<L>>(op, block);
            const int n = frames(block);
            for (int c = 0; c < op.inputs; ++c) {
                const float* wire = input(op, block, size_t(c));
                if constexpr (Audio && L > 1)
                    unweave(block, wire, 0);
                each_lane<L>(block, [&](int lane) {
                    if (!s.buses[lane] || s.channels[lane] != op.inputs)
                        return;
                    const float* from = wire + lane;
                    if constexpr (Audio && L > 1)
                        from = row(block, 0, lane);
                    mix(s.buses[lane] + c * n, from, n, age(s, block, lane) == 0);
                });
            }
            each_lane<L>(block, [&](int lane) {
                if (s.channels[lane] == op.inputs)
                    s.touched[lane] = int32_t(number_of(block));
            });
        }
    };

    static const Kernel in, out;
};

template <bool Audio>
constinit const Kernel Local<Audio>::in = [] {
    Kernel made = lane_kernel<In, LocalState>(start);
    made.stop = give_back<&LocalState<1>::buses>;
    made.state_of = &in; // a second LocalIn is silent in SuperCollider, so only one is native
    return made;
}();
template <bool Audio>
constinit const Kernel Local<Audio>::out = [] {
    Kernel made;
    made.lone = Out<1>::run;
    made.batch = Out<lanes>::run;
    made.state_of = &in;
    return made;
}();

size_t audio_inputs(const Signature& s) {
    size_t count = 0;
    for (size_t i = 0; i < s.inputs.size(); ++i)
        count += s.audio(i);
    return count;
}

const Kernel* choose_in(const Signature& s) {
    if (s.rate != Rate::audio)
        return s.rate == Rate::control ? &Local<false>::in : nullptr;
    return audio_inputs(s) == 0 ? &Local<true>::in : nullptr; // an output may share memory with an audio input
}
const Kernel* choose_out(const Signature& s) {
    if (s.rate != Rate::audio)
        return s.rate == Rate::control ? &Local<false>::out : nullptr;
    return audio_inputs(s) == s.inputs.size() ? &Local<true>::out : nullptr; // other inputs have only one value
}

constexpr NativeUgen list[] = {
    {"LocalIn", choose_in},
    {"LocalOut", choose_out},
};

} // namespace

SCS_FAMILY(local_buses)

} // namespace scs::SCS_SIMD
