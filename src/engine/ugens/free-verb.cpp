// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/ugens/families.hpp"
#include "engine/ugens/memory.hpp"
#include "engine/ugens/rows.hpp"

namespace scs::SCS_SIMD {
namespace {

// FreeVerb and FreeVerb2, Jezar's reverb: eight parallel combs with a low pass in their loops, then four allpasses in
// series. All delays are longer than a piece of a block, so a piece never reads what it has written itself. Only the
// low passes depend on the previous frame: these are computed for several combs at once, in lanes. Everything else is
// computed for several frames at once.

constexpr int allpasses = 4, combs = 8, delays = allpasses + combs;
constexpr int piece = block_multiple; ///< frames
constexpr int spread = 23;            ///< frames by which the right channel's delays are longer

/// Frames. The allpasses come first, in reverse order: the last one is the first that the sound goes through.
constexpr int lengths[delays] = {225, 341, 441, 556, 1617, 1557, 1491, 1422, 1277, 1116, 1188, 1356};

constexpr int total(int more) {
    int sum = 0;
    for (int length : lengths)
        sum += length + more + piece;
    return sum;
}

struct Gains {
    float dry, wet, feedback, damping;
};

using F = F32<lanes>;

/// Combs whose low passes are computed in one vector.
constexpr int side_by_side = lanes < combs ? lanes : combs;

template <int More>
struct Tank {
    float last[delays]; ///< output of each delay in the previous frame
    float damped[combs];
    int at[delays];
    float samples[total(More)]; ///< of each delay, with space after it for a piece that begins near its end

    void clear() {
        for (float& x : last)
            x = 0.f;
        for (float& x : damped)
            x = 0.f;
        for (int& x : at)
            x = 0;
        for (float& x : samples)
            x = 0.f;
    }

    /// Computes the first frame, when all delays are empty: the sound enters the combs, and nothing comes out.
    void begin(float sound, const Gains& gains) {
        int start = 0;
        for (int k = 0; k < delays; ++k) {
            if (k >= allpasses)
                samples[start] = sound + gains.feedback * damped[k - allpasses];
            at[k] = 1;
            start += lengths[k] + More + piece;
        }
    }

    /// A piece is computed in place by begin_piece(), then comb() for each vector of frames, then end_piece().
    SCS_INLINE void begin_piece() {
        int start = 0;
        for (int k = 0; k < delays; ++k) {
            const int length = lengths[k] + More;
            from[k] = samples + start + at[k];
            // A copy of the delay's beginning after its end, so that the piece is contiguous.
            for (int i = 0; i < at[k] + piece - length; i += lanes)
                F::load(samples + start + i).store(samples + start + length + i);
            start += length + piece;
        }
        for (int k = 0; k < combs; ++k)
            ends[k] = from[allpasses + k][piece - 1];
        for (int g = 0; g < groups; ++g) {
            float lows[lanes] = {}, befores[lanes] = {};
            for (int k = 0; k < side_by_side; ++k) {
                lows[k] = damped[g * side_by_side + k];
                befores[k] = last[allpasses + g * side_by_side + k];
            }
            low[g] = F::load(lows);
            before[g] = F::load(befores);
        }
    }
    SCS_INLINE void comb(float* sound, int i, const Gains& gains) {
        const F through(1.f - gains.damping), damping(gains.damping), feedback(gains.feedback), x = F::load(sound + i);
        F old[combs];
        for (int k = 0; k < combs; ++k)
            old[k] = F::load(from[allpasses + k] + i);
        (((old[0] + old[1]) + (old[2] + old[3])) + ((old[4] + old[5]) + (old[6] + old[7]))).store(sound + i);
        for (int g = 0; g < groups; ++g) {
            F rows[lanes];
            for (int k = 0; k < lanes; ++k)
                rows[k] = k < side_by_side ? old[g * side_by_side + k] : F(0.f);
            transpose(rows);
            for (F& row : rows) {
                low[g] = through * before[g] + damping * low[g];
                before[g] = row;
                row = low[g];
            }
            transpose(rows);
            for (int k = 0; k < side_by_side; ++k)
                (x + feedback * rows[k]).store(from[allpasses + g * side_by_side + k] + i);
        }
    }
    SCS_INLINE void end_piece(float* sound) {
        for (int g = 0; g < groups; ++g) {
            float lows[lanes];
            low[g].store(lows);
            for (int k = 0; k < side_by_side; ++k)
                damped[g * side_by_side + k] = lows[k];
        }
        for (int k = 0; k < combs; ++k)
            last[allpasses + k] = ends[k];
        for (int k = allpasses - 1; k >= 0; --k)
            pass(sound, from[k], last[k]);
        int start = 0;
        for (int k = 0; k < delays; ++k) {
            const int length = lengths[k] + More;
            const int over = at[k] + piece - length;
            for (int i = 0; i < over; ++i)
                samples[start + i] = samples[start + length + i];
            at[k] = over < 0 ? at[k] + piece : over;
            start += length + piece;
        }
    }

private:
    static constexpr int groups = combs / side_by_side;
    // Valid during a piece.
    float* from[delays];
    float ends[combs];
    F low[groups], before[groups];

    SCS_INLINE static void pass(float* sound, float* from, float& last) {
        float old[piece + 1];
        old[0] = last;
        for (int i = 0; i < piece; i += lanes)
            F::load(from + i).store(old + 1 + i);
        last = old[piece];
        for (int i = 0; i < piece; i += lanes) {
            const F x = F::load(sound + i);
            (F(0.5f) * F::load(old + i) + x).store(from + i);
            (F::load(old + 1 + i) - x).store(sound + i);
        }
    }
};

/// Clips to 0 … 1; NaN stays NaN.
SCS_INLINE float part(float x) {
    return x > 1.f ? 1.f : x < 0.f ? 0.f : x;
}

template <int N>
struct VerbState {
    static constexpr size_t items64 = 1;
    void* tanks[N]; ///< null without memory
};

template <int Channels>
struct Verb {
    enum { mix = Channels, room, damp };
    struct Tanks {
        Tank<0> left;
        Tank<spread> right;
    };
    using Memory = std::conditional_t<Channels == 1, Tank<0>, Tanks>;

    template <int L>
    SCS_INLINE static Gains gains(const Op& op, const Block& block, int lane) {
        const auto held = [&](size_t index) { return part(input(op, block, index)[lane]); };
        const float wet = held(mix);
        return {1.f - wet, wet, 0.7f + 0.28f * held(room), 0.4f * held(damp)};
    }

    /// Computes a voice from its channels at `in` to those at `out`, which may be the same.
    SCS_INLINE static void turn(Memory* memory, const float* const* in, float* const* out, int n, const Gains& gains) {
        for (int from = 0; from < n; from += piece) {
            float sound[piece], other[piece];
            for (int i = 0; i < piece; i += lanes) {
                const F left = F::load(in[0] + from + i);
                const F fed = F(0.015f) * (Channels == 1 ? left : left + F::load(in[Channels - 1] + from + i));
                fed.store(sound + i);
                fed.store(other + i);
            }
            // Each frame of a comb waits for the one before. The channels alternate, so that their waits overlap.
            if constexpr (Channels == 1) {
                memory->begin_piece();
                for (int i = 0; i < piece; i += lanes)
                    memory->comb(sound, i, gains);
                memory->end_piece(sound);
            } else {
                memory->left.begin_piece();
                memory->right.begin_piece();
                for (int i = 0; i < piece; i += lanes) {
                    memory->left.comb(sound, i, gains);
                    memory->right.comb(other, i, gains);
                }
                memory->left.end_piece(sound);
                memory->right.end_piece(other);
            }
            for (int i = 0; i < piece; i += lanes) {
                F made[Channels];
                for (int c = 0; c < Channels; ++c)
                    made[c] =
                        F(gains.dry) * F::load(in[c] + from + i) + F(gains.wet) * F::load((c ? other : sound) + i);
                for (int c = 0; c < Channels; ++c)
                    made[c].store(out[c] + from + i);
            }
        }
    }

    template <int L>
    struct Run {
        [[gnu::flatten]] static void run(const Op& op, Block& block) SCS_NONBLOCKING {
            const int n = block.frames;
            if constexpr (L > 1)
                for (int c = 0; c < Channels; ++c)
                    unweave(block, input(op, block, size_t(c)), c);
            // All parameters are read first, as an output may share memory with any of them.
            Gains all[L];
            each_lane<L>(block, [&](int lane) SCS_INLINE_LAMBDA { all[lane] = gains<L>(op, block, lane); });
            each_lane<L>(block, [&](int lane) SCS_INLINE_LAMBDA {
                auto* memory = static_cast<Memory*>(state<VerbState<L>>(op, block).tanks[lane]);
                const float* in[Channels];
                float* out[Channels];
                for (int c = 0; c < Channels; ++c) {
                    in[c] = L == 1 ? input(op, block, size_t(c)) : row(block, c, lane);
                    out[c] = L == 1 ? output(op, block, size_t(c)) : row(block, c, lane);
                    for (int i = 0; !memory && i < n; ++i)
                        out[c][i] = 0.f;
                }
                if (memory)
                    turn(memory, in, out, n, all[lane]);
            });
            if constexpr (L > 1)
                for (int c = 0; c < Channels; ++c)
                    weave(block, c, output(op, block, size_t(c)));
        }
    };

    static void start(const Op& op, Block& block) SCS_NONBLOCKING {
        auto* memory = claim<Memory>(block, 1);
        state<VerbState<1>>(op, block).tanks[0] = memory;
        const auto given = gains<1>(op, block, 0);
        float in[Channels];
        for (int c = 0; c < Channels; ++c)
            in[c] = *input(op, block, size_t(c));
        const float fed = 0.015f * (Channels == 1 ? in[0] : in[0] + in[Channels - 1]);
        for (int c = 0; c < Channels; ++c)
            *output(op, block, size_t(c)) = memory ? given.dry * in[c] + given.wet * 0.f : 0.f;
        if (!memory)
            return;
        if constexpr (Channels == 1) {
            memory->clear();
            memory->begin(fed, given);
        } else {
            memory->left.clear();
            memory->right.clear();
            memory->left.begin(fed, given);
            memory->right.begin(fed, given);
        }
    }

    static constexpr Kernel kernel = [] {
        Kernel made = lane_kernel<Run, VerbState>(start);
        made.stop = give_back<&VerbState<1>::tanks>;
        return made;
    }();
    static const Kernel* choose(const Signature& s) {
        return s.rate == Rate::audio && s.audio(0) && s.audio(Channels - 1) ? &kernel : nullptr;
    }
};

constexpr NativeUgen list[] = {
    {"FreeVerb", Verb<1>::choose},
    {"FreeVerb2", Verb<2>::choose},
};

} // namespace

SCS_FAMILY(free_verb)

} // namespace scs::SCS_SIMD
