// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/simd/math.hpp"
#include "engine/ugens/families.hpp"
#include "engine/ugens/forms.hpp"
#include "engine/ugens/memory.hpp"

namespace scs::SCS_SIMD {
namespace {

// Limiter and Normalizer. They keep three pieces of signal: one is being written, one waits, and one is put out. The
// output's gain moves linearly within a piece, to the gain for the loudest sample of the two pieces after it. The line
// is a sum in single precision, as in SuperCollider, where what it is off by stays and loud samples make it loud. Here
// the gain is put right at the end of a piece if samples are so loud that it would be heard.

enum { in, level, duration };

template <int N>
struct LookaheadState {
    static constexpr size_t items64 = 1;
    float* table[N];  ///< three pieces; null without memory
    int32_t piece[N]; ///< frames in a piece
    int32_t at[N], flips[N];
    float gain[N], slope[N], loudest[N], loudest_before[N];
    float aim[N]; ///< the gain at the end of the piece
};

struct Limit {
    SCS_INLINE static float gain(float loudest, float level) { return loudest > level ? level / loudest : 1.f; }
};
struct Normalize {
    SCS_INLINE static float gain(float loudest, float level) {
        return loudest <= 0.00001f ? 100000.f * level : level / loudest;
    }
};

/// The gains of the next frames. A limiter's stays 1 as long as nothing is too loud. Adding zero would change -0 only.
SCS_INLINE F32<lanes> gains(float& gain, float slope) {
    if (slope == 0.f && gain != 0.f)
        return F32<lanes>(gain);
    float each[lanes];
    for (float& one : each) {
        one = gain;
        gain += slope;
    }
    return F32<lanes>::load(each);
}

template <class Kind>
struct Lookahead {
    template <int L>
    static void turn(const Op& op, const Block& block, int lane, int n) {
        auto& s = state<LookaheadState<L>>(op, block);
        const float* from = input(op, block, in) + lane;
        float* out = output(op, block) + lane;
        const float to = input(op, block, level)[lane];
        float* table = s.table[lane];
        if (!table) {
            for (int i = 0; i < n; ++i)
                out[i * L] = 0.f;
            return;
        }
        const int piece = s.piece[lane];
        float gain = s.gain[lane], slope = s.slope[lane], loudest = s.loudest[lane];
        for (int i = 0; i < n;) {
            const int turn = s.flips[lane] % 3, at = s.at[lane];
            float* incoming = table + (turn == 0 ? 0 : turn == 1 ? 2 : 1) * piece + at;
            const float* outgoing = table + (2 - turn) * piece + at;
            const int count = piece - at < n - i ? piece - at : n - i;
            const bool sounds = s.flips[lane] >= 2;
            int k = 0;
            if constexpr (L == 1) {
                using F = F32<lanes>;
                F most(0.f);
                for (; k + lanes <= count; k += lanes, i += lanes) {
                    const F x = F::load(from + i), size = abs(x), now = gains(gain, slope);
                    const F gone = sounds ? now * F::load(outgoing + k) : F(0.f);
                    x.store(incoming + k);
                    gone.store(out + i);
                    most = select(size > most, size, most);
                }
                for (int lane = 0; lane < lanes; ++lane)
                    loudest = most[lane] > loudest ? most[lane] : loudest;
            }
            for (; k < count; ++k, ++i) {
                const float x = from[i * L];
                incoming[k] = x;
                out[i * L] = sounds ? gain * outgoing[k] : 0.f;
                gain += slope;
                const float size = x < 0.f ? -x : x;
                loudest = size > loudest ? size : loudest;
            }
            s.at[lane] = at + count;
            if (s.at[lane] >= piece) {
                s.at[lane] = 0;
                const float before = s.loudest_before[lane];
                s.loudest_before[lane] = loudest;
                const float most = before > loudest ? before : loudest;
                constexpr float loud = 100.f;
                if (most > loud && !(__builtin_fabsf(gain - s.aim[lane]) * most <= 0.001f * to))
                    gain = s.aim[lane];
                s.aim[lane] = Kind::gain(most, to);
                slope = (s.aim[lane] - gain) * (1.f / float(piece));
                loudest = 0.f;
                s.flips[lane] = s.flips[lane] == 4 ? 2 : s.flips[lane] + 1; // 2 in place of 5, the same modulo 3
            }
        }
        s.gain[lane] = gain;
        s.slope[lane] = slope;
        s.loudest[lane] = loudest;
    }

    template <int L>
    struct Run {
        static void run(const Op& op, Block& block) SCS_NONBLOCKING {
            each_lane<L>(block, [&](int lane) { turn<L>(op, block, lane, block.frames); });
        }
    };

    static void start(const Op& op, Block& block) SCS_NONBLOCKING {
        auto& s = state<LookaheadState<1>>(op, block);
        const F64<1> frames = ceil(F64<1>(double(*input(op, block, duration)) * block.audio->samples));
        const int32_t piece = int_of(frames[0]);
        if (piece > 0 && piece < 1 << 28) {
            s.table[0] = claim<float>(block, size_t(piece) * 3);
            s.piece[0] = piece;
        }
        if (!s.table[0])
            complain_of_memory(op, block);
        s.gain[0] = s.aim[0] = 1.f;
        turn<1>(op, block, 0, 1);
    }

    static constexpr Kernel kernel = [] {
        Kernel made = lane_kernel<Run, LookaheadState>(start);
        made.stop = give_back<&LookaheadState<1>::table>;
        return made;
    }();
    static const Kernel* choose(const Signature& s) { return s.rate == Rate::audio && s.audio(in) ? &kernel : nullptr; }
};

constexpr NativeUgen list[] = {
    {"Limiter", Lookahead<Limit>::choose},
    {"Normalizer", Lookahead<Normalize>::choose},
};

} // namespace

SCS_FAMILY(limiters)

} // namespace scs::SCS_SIMD
