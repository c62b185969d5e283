// SPDX-License-Identifier: GPL-3.0-or-later

// Random numbers at a low rate: held, or interpolated by lines or curves. The LFNoises count frames; the LFDNoises,
// whose frequency may change in any frame, use a phase.

#include "engine/simd/math.hpp"
#include "engine/ugens/families.hpp"
#include "engine/ugens/forms.hpp"
#include "engine/ugens/own-rate.hpp"
#include "engine/ugens/taus88.hpp"

namespace scs::SCS_SIMD {
namespace {

// ---- LFNoise0, LFNoise1, LFNoise2, LFClipNoise

template <int N>
struct CountState {
    static constexpr size_t items64 = 0;
    int32_t left[N]; ///< frames until the next draw
    float level[N], slope[N], curve[N];
    float next[N], middle[N]; ///< LFNoise2: the last random number, and the mean of the last two
};

/// A lane's state while a block is computed.
struct Course {
    float level, slope, curve, next, middle;
};

struct Held {
    static constexpr int fewest = 1; ///< between draws
    SCS_INLINE static void draw(Taus88& random, Course& c, int) { c.level = random.bipolar(); }
    SCS_INLINE static void advance(Course&) {}
    static void begin(Taus88&, CountState<1>&) {}
};
struct Clip : Held {
    SCS_INLINE static void draw(Taus88& random, Course& c, int) { c.level = random.coin(); }
};
struct Lines {
    static constexpr int fewest = 1;
    SCS_INLINE static void draw(Taus88& random, Course& c, int frames) {
        c.slope = (random.bipolar() - c.level) / float(frames);
    }
    SCS_INLINE static void advance(Course& c) { c.level += c.slope; }
    static void begin(Taus88& random, CountState<1>& s) { s.level[0] = random.bipolar(); }
};
struct Curves {
    static constexpr int fewest = 2;
    SCS_INLINE static void draw(Taus88& random, Course& c, int frames) {
        const float before = c.next;
        c.next = random.bipolar();
        c.level = c.middle;
        c.middle = (c.next + before) * 0.5f;
        const float length = float(frames);
        c.curve = 2.f * (c.middle - c.level - length * c.slope) / (length * length + length);
    }
    SCS_INLINE static void advance(Course& c) {
        c.slope += c.curve;
        c.level += c.slope;
    }
    static void begin(Taus88& random, CountState<1>& s) {
        s.next[0] = random.bipolar();
        s.middle[0] = s.next[0] * 0.5f;
    }
};

template <class Kind>
struct Counted {
    template <int L>
    struct Run {
        static void run(const Op& op, Block& block) SCS_NONBLOCKING {
            auto& s = state<CountState<L>>(op, block);
            const int n = own_frames(op, block);
            each_lane<L>(block, [&](int lane) {
                Taus88 random(block);
                const float wanted = input(op, block, 0)[lane], freq = wanted > 0.001f ? wanted : 0.001f;
                float* out = output(op, block) + lane;
                Course c{s.level[lane], s.slope[lane], s.curve[lane], s.next[lane], s.middle[lane]};
                int left = s.left[lane];
                for (int i = 0; i < n;) {
                    if (left <= 0) {
                        left = int(own_rate(op, block).samples / double(freq));
                        left = left > Kind::fewest ? left : Kind::fewest;
                        Kind::draw(random, c, left);
                    }
                    const int until = left < n - i ? i + left : n;
                    left -= until - i;
                    for (; i < until; ++i) {
                        out[i * L] = c.level;
                        Kind::advance(c);
                    }
                }
                s.left[lane] = left;
                s.level[lane] = c.level;
                s.slope[lane] = c.slope;
                s.curve[lane] = c.curve;
                s.next[lane] = c.next;
                s.middle[lane] = c.middle;
            });
        }
    };
    static void start(const Op& op, Block& block) SCS_NONBLOCKING {
        {
            Taus88 random(block);
            Kind::begin(random, state<CountState<1>>(op, block));
        }
        run_first_frame(Run<1>::run, op, block);
    }
    static constexpr Kernel kernel = drawing<Run, CountState>(start);
};

// ---- LFDNoise0, LFDNoise1, LFDNoise3, LFDClipNoise

template <int N>
struct DrawnState {
    static constexpr size_t items64 = 0;
    float phase[N];
    float drawn[4][N]; ///< the newest last
};

struct Drawn {
    float value[4];
    SCS_INLINE void add(float next) {
        value[0] = value[1];
        value[1] = value[2];
        value[2] = value[3];
        value[3] = next;
    }
};

struct HeldDraw {
    static constexpr int first_draws = 0;
    static constexpr bool exact = false; ///< whether the increment of a held frequency is rounded only once
    SCS_INLINE static float draw(Taus88& random) { return random.bipolar(); }
    SCS_INLINE static float at(const Drawn& d, float) { return d.value[3]; }
};
struct ClipDraw : HeldDraw {
    SCS_INLINE static float draw(Taus88& random) { return random.coin(); }
};
struct LineDraw {
    static constexpr int first_draws = 1;
    static constexpr bool exact = false;
    SCS_INLINE static float draw(Taus88& random) { return random.bipolar(); }
    SCS_INLINE static float at(const Drawn& d, float phase) { return d.value[3] + phase * (d.value[2] - d.value[3]); }
};
struct CubicDraw {
    static constexpr int first_draws = 4;
    static constexpr bool exact = true;
    // With values up to 0.8, the cubic stays within -1 to 1.
    SCS_INLINE static float draw(Taus88& random) { return random.bipolar() * 0.8f; }
    /// A cubic through the two middle values, with slopes from their neighbours.
    SCS_INLINE static float at(const Drawn& d, float phase) {
        const float x = 1.f - phase, a = d.value[0], b = d.value[1], c = d.value[2], e = d.value[3];
        const float c1 = 0.5f * (c - a);
        const float c2 = a - 2.5f * b + 2.f * c - 0.5f * e;
        const float c3 = 0.5f * (e - a) + 1.5f * (b - c);
        return ((c3 * x + c2) * x + c1) * x + b;
    }
};

template <class Kind>
struct Phased {
    template <int L>
    struct Run {
        static void run(const Op& op, Block& block) SCS_NONBLOCKING {
            auto& s = state<DrawnState<L>>(op, block);
            const int n = own_frames(op, block);
            const double duration = own_rate(op, block).duration;
            const bool exact = Kind::exact && !is_audio(op, 0);
            each_lane<L>(block, [&](int lane) {
                Taus88 random(block);
                const LaneIn<L> freq(op, block, 0, lane);
                float* out = output(op, block) + lane;
                float phase = s.phase[lane];
                const float held = float(double(freq.at(0)) * duration);
                Drawn d{s.drawn[0][lane], s.drawn[1][lane], s.drawn[2][lane], s.drawn[3][lane]};
                for (int i = 0; i < n; ++i) {
                    phase -= exact ? held : freq.at(i) * float(duration);
                    if (phase < 0.f) {
                        phase += 1.f;
                        if (phase < 0.f)
                            phase -= floor(F32<1>(phase))[0];
                        d.add(Kind::draw(random));
                    }
                    out[i * L] = Kind::at(d, phase);
                }
                s.phase[lane] = phase;
                for (int k = 0; k < 4; ++k)
                    s.drawn[k][lane] = d.value[k];
            });
        }
    };
    static void start(const Op& op, Block& block) SCS_NONBLOCKING {
        auto& s = state<DrawnState<1>>(op, block);
        {
            Taus88 random(block);
            for (int k = 4 - Kind::first_draws; k < 4; ++k)
                s.drawn[k][0] = Kind::draw(random);
        }
        run_first_frame(Run<1>::run, op, block);
    }
    static constexpr Kernel kernel = drawing<Run, DrawnState>(start);
};

template <class Of>
const Kernel* always(const Signature&) {
    return &Of::kernel;
}

constexpr NativeUgen list[] = {
    {"LFClipNoise", always<Counted<Clip>>},   {"LFDClipNoise", always<Phased<ClipDraw>>},
    {"LFDNoise0", always<Phased<HeldDraw>>},  {"LFDNoise1", always<Phased<LineDraw>>},
    {"LFDNoise3", always<Phased<CubicDraw>>}, {"LFNoise0", always<Counted<Held>>},
    {"LFNoise1", always<Counted<Lines>>},     {"LFNoise2", always<Counted<Curves>>},
};

} // namespace

SCS_FAMILY(low_frequency_noise)

} // namespace scs::SCS_SIMD
