// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/ugens/families.hpp"
#include "engine/ugens/recursive.hpp"

namespace scs::SCS_SIMD {
namespace {

// FreeVerb and FreeVerb2: Jezar's reverb, eight combs with a low pass in their loops side by side, then four allpasses
// one after the other. All delays are longer than a piece of a block: a piece reads nothing that it has written.

constexpr int allpasses = 4, combs = 8, delays = allpasses + combs;
constexpr int longest_piece = 64;
constexpr int spread = 23; ///< frames that the right channel's delays are longer

/// Frames; the allpasses come first, the last of them is the first that the sound goes through.
constexpr int lengths[delays] = {225, 341, 441, 556, 1617, 1557, 1491, 1422, 1277, 1116, 1188, 1356};

constexpr int total(int more) {
    int sum = 0;
    for (int length : lengths)
        sum += length + more;
    return sum;
}

struct Gains {
    float dry, wet, feedback, damping;
};

template <int More>
struct Tank {
    float last[delays];   ///< what came out of each delay in the frame before
    float damped[combs];
    int at[delays];
    float samples[total(More)];

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

    /// In place; at most longest_piece frames.
    SCS_INLINE void run(float* sound, int frames, const Gains& gains) {
        for (int done = 0; done < frames;) {
            int count = frames - done, start = 0;
            float* from[delays];
            repeat<delays>([&](int k) {
                const int length = lengths[k] + More;
                count = length - at[k] < count ? length - at[k] : count;
                from[k] = samples + start + at[k];
                start += length;
            });
            comb(sound + done, count, from + allpasses, gains);
            repeat<allpasses>([&](int k) {
                pass(sound + done, count, from[allpasses - 1 - k], last[allpasses - 1 - k]);
            });
            repeat<delays>([&](int k) {
                at[k] += count;
                at[k] = at[k] == lengths[k] + More ? 0 : at[k];
            });
            done += count;
        }
    }

private:
    SCS_INLINE void comb(float* sound, int count, float* const* from, const Gains& gains) {
        const float through = 1.f - gains.damping;
        float before[combs], low[combs];
        repeat<combs>([&](int k) {
            before[k] = last[allpasses + k];
            low[k] = damped[k];
        });
        for (int i = 0; i < count; ++i) {
            const float x = sound[i];
            repeat<combs>([&](int k) {
                low[k] = through * before[k] + gains.damping * low[k];
                before[k] = from[k][i];
                from[k][i] = x + gains.feedback * low[k];
            });
            sound[i] = ((before[0] + before[1]) + (before[2] + before[3])) +
                       ((before[4] + before[5]) + (before[6] + before[7]));
        }
        repeat<combs>([&](int k) {
            last[allpasses + k] = before[k];
            damped[k] = low[k];
        });
    }
    SCS_INLINE static void pass(float* sound, int count, float* from, float& last) {
        for (int i = 0; i < count; ++i) {
            const float x = sound[i], out = from[i];
            from[i] = 0.5f * last + x;
            last = out;
            sound[i] = out - x;
        }
    }
};

/// Between 0 and 1; a number that is none stays one.
SCS_INLINE float part(float x) {
    return x > 1.f ? 1.f : x < 0.f ? 0.f : x;
}

template <int N>
struct VerbState {
    static constexpr size_t items64 = 1;
    uint64_t tanks[N]; ///< their address; 0 if there was no memory
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
    SCS_INLINE static void turn(const Op& op, const Block& block, int lane, int n) {
        auto* memory = reinterpret_cast<Memory*>(state<VerbState<L>>(op, block).tanks[lane]);
        const float* in[Channels];
        float* out[Channels];
        for (int c = 0; c < Channels; ++c) {
            in[c] = input(op, block, size_t(c)) + lane;
            out[c] = output(op, block, size_t(c)) + lane;
        }
        const auto held = [&](size_t index) { return part(input(op, block, index)[lane]); };
        const float wet = held(mix);
        const Gains gains{1.f - wet, wet, 0.7f + 0.28f * held(room), 0.4f * held(damp)};
        for (int from = 0; from < n; from += longest_piece) {
            const int count = n - from < longest_piece ? n - from : longest_piece;
            float dry[Channels][longest_piece], sound[longest_piece], other[longest_piece];
            // All inputs first: an output may be where any of them is.
            for (int c = 0; c < Channels; ++c)
                for (int i = 0; i < count; ++i)
                    dry[c][i] = in[c][(from + i) * L];
            for (int i = 0; i < count; ++i)
                sound[i] = other[i] = 0.015f * (Channels == 1 ? dry[0][i] : dry[0][i] + dry[Channels - 1][i]);
            const auto put = [&](int c, const float* wet_sound) {
                for (int i = 0; i < count; ++i)
                    out[c][(from + i) * L] = gains.dry * dry[c][i] + gains.wet * wet_sound[i];
            };
            if (!memory) {
                for (int c = 0; c < Channels; ++c)
                    for (int i = 0; i < count; ++i)
                        out[c][(from + i) * L] = 0.f;
            } else if constexpr (Channels == 1) {
                memory->run(sound, count, gains);
                put(0, sound);
            } else {
                memory->left.run(sound, count, gains);
                memory->right.run(other, count, gains);
                put(0, sound);
                put(1, other);
            }
        }
    }

    template <int L>
    struct Run {
        [[gnu::flatten]] static void run(const Op& op, Block& block) {
            each_lane<L>(block, [&](int lane) { turn<L>(op, block, lane, block.frames); });
        }
    };

    static void start(const Op& op, Block& block) {
        auto* memory = static_cast<Memory*>(block.space->allocate(block.space->allocator, sizeof(Memory)));
        state<VerbState<1>>(op, block).tanks[0] = reinterpret_cast<uint64_t>(memory);
        if (memory) {
            if constexpr (Channels == 1) {
                memory->clear();
            } else {
                memory->left.clear();
                memory->right.clear();
            }
        }
        turn<1>(op, block, 0, 1);
    }
    static void stop(const Op& op, Block& block) {
        auto& tanks = state<VerbState<1>>(op, block).tanks[0];
        if (tanks)
            block.space->free(block.space->allocator, reinterpret_cast<void*>(tanks));
        tanks = 0;
    }

    static constexpr Kernel kernel = [] {
        Kernel made = lane_kernel<Run, VerbState>(start);
        made.stop = stop;
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

const std::span<const NativeUgen> free_verb = list;

} // namespace scs::SCS_SIMD
