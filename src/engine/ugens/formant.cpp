// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/ugens/families.hpp"
#include "engine/ugens/own-rate.hpp"
#include "engine/ugens/sine-tables.hpp"
#include "engine/ugens/wrapping.hpp"

namespace scs::SCS_SIMD {
namespace {

// Formant: a sine in a window that begins anew in each cycle of the fundamental. As in SuperCollider, its sines are the
// table's entries, without lines between them.

enum { fundamental, centre, width };

constexpr int32_t cycle = 1 << 29, three_quarters = cycle / 4 * 3;

template <int N>
struct FormantState {
    static constexpr size_t items64 = 0;
    int32_t at[N], within[N], in_window[N]; ///< the phases of the fundamental, the sine and the window
};

SCS_INLINE float entry(uint32_t phase) {
    return sine_table[(phase >> 16) & uint32_t(table_size - 1)];
}
/// Where another phase is when the fundamental, `past` the begin of its cycle, has gone there with increment `own`.
SCS_INLINE int32_t caught_up(int32_t past, int32_t other, int32_t own) {
    const auto product = int32_t(uint32_t(past) * uint32_t(other));
    return own == 0 ? 0 : int32_t(int64_t(product) / own);
}

template <int L>
struct Formant {
    static void run(const Op& op, Block& block) SCS_NONBLOCKING {
        auto& s = state<FormantState<L>>(op, block);
        const int n = own_frames(op, block);
        const auto increments = float(phase_cycle * own_rate(op, block).duration);
        each_lane<L>(block, [&](int lane) {
            const auto increment = [&](size_t index) { return int_of(increments * input(op, block, index)[lane]); };
            const int32_t own = increment(fundamental), sine = increment(centre), third = increment(width);
            const int32_t window = own > third ? own : third;
            int32_t at = s.at[lane], within = s.within[lane], in_window = s.in_window[lane];
            float* out = output(op, block) + lane;
            for (int i = 0; i < n; ++i) {
                float made = 0.f;
                if (in_window < cycle) {
                    made = (entry(uint32_t(plus(in_window, three_quarters))) + 1.f) * entry(uint32_t(within));
                    in_window = plus(in_window, window);
                }
                out[i * L] = made;
                at = plus(at, own);
                within = plus(within, sine);
                if (at > cycle) {
                    at -= cycle;
                    within = caught_up(at, sine, own);
                    in_window = caught_up(at, third, own);
                }
            }
            s.at[lane] = at;
            s.within[lane] = within;
            s.in_window[lane] = in_window;
        });
    }
    static void start(const Op& op, Block& block) SCS_NONBLOCKING {
        run_first_frame(Formant<1>::run, op, block);
        state<FormantState<1>>(op, block) = {};
    }
};

constexpr Kernel kernel = lane_kernel<Formant, FormantState>(Formant<1>::start);

const Kernel* choose(const Signature& s) {
    return s.rate == Rate::audio && s.inputs.size() == 3 && s.outputs == 1 ? &kernel : nullptr;
}

constexpr NativeUgen list[] = {
    {"Formant", choose, Gives::nothing, true},
};

} // namespace

SCS_FAMILY(formant)

} // namespace scs::SCS_SIMD
