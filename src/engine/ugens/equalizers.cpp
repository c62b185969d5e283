// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/ugens/families.hpp"
#include "engine/ugens/recursive.hpp"

namespace scs::SCS_SIMD {
namespace {

// Second-order sections with five coefficients: SOS, and the filters of Robert Bristow-Johnson's cookbook.

/// c = {a0, a1, a2, b1, b2}; the products with b1 and b2 are added.
struct Biquad : Poles<Biquad> {
    static constexpr int coefficients = 5, b = 3;
    static constexpr bool at_once = false;
    template <int N>
    SCS_INLINE static F64<N> after(F64<N>, F64<N> y0, F64<N> y1, F64<N> y2, const F64<N>* c) {
        return c[1] * y1 + c[2] * y2 + c[0] * y0;
    }
};

struct SecondOrderSection : Biquad {
    static constexpr int parameters = 5;
    static constexpr bool at_once = true;
    template <int N>
    SCS_INLINE static void design(const F32<N>* p, const UnitRate&, F64<N>* c) {
        repeat<5>([&](int k) { c[k] = convert<double>(p[k]); });
    }
};

const Kernel* choose_section(const Signature& s) {
    if (s.rate == Rate::audio && s.audio(0) && all_audio(s, 5))
        return &Modulated<SecondOrderSection>::kernel;
    return Recursive<SecondOrderSection>::choose(s);
}

// ---- designs

/// How SuperCollider reads parameters that are all at audio rate. It reads the next sample of each for every three
/// frames, starting with the block's first sample, and others as follows. `after_three` says what is done in each frame
/// after the last three: a sample of each is read and kept as the old values (reads), the old values stay (keeps), or
/// the last ones read become the old values (repeats).
struct Tracking {
    bool twice;                                 ///< after a change, it reads and keeps another sample of each
    enum { reads, keeps, repeats } after_three; ///< in the frames after the last three
};

template <int N>
struct Angle {
    F64<N> sin, cos;
    SCS_INLINE Angle(F32<N> freq, const UnitRate& rate) {
        const auto both = sincos(stable_angle(freq, rate));
        sin = both.sin;
        cos = both.cos;
    }
};

/// Computes b1 and b2 of the poles that most of the filters share. Returns the scale of the zeros' coefficients.
template <int N>
SCS_INLINE F64<N> design_poles(F64<N> alpha, F64<N> cos, F64<N>* c) {
    const F64<N> one(1.0), scale = one / (one + alpha);
    c[3] = F64<N>(2.0) * scale * cos;
    c[4] = (one - alpha) * -scale;
    return scale;
}

/// alpha for a reciprocal of Q.
template <int N>
SCS_INLINE F64<N> alpha_of(const Angle<N>& w, F32<N> rq) {
    return w.sin * F64<N>(0.5) * convert<double>(rq);
}

/// BLowPass (Sign = 1) and BHiPass (-1).
template <int Sign>
struct Pass : Biquad {
    static constexpr int parameters = 2;
    static constexpr Tracking tracking{false, Sign > 0 ? Tracking::reads : Tracking::keeps};
    template <int N>
    SCS_INLINE static void design(const F32<N>* p, const UnitRate& rate, F64<N>* c) {
        const Angle<N> w(p[0], rate);
        const F64<N> one(1.0), scale = design_poles(alpha_of(w, p[1]), w.cos, c);
        const F64<N> i = (Sign > 0 ? one - w.cos : one + w.cos) * scale;
        c[0] = c[2] = i * F64<N>(0.5);
        c[1] = Sign > 0 ? i : -i;
    }
};

struct AllPass : Biquad {
    static constexpr int parameters = 2;
    static constexpr Tracking tracking{false, Tracking::reads};
    template <int N>
    SCS_INLINE static void design(const F32<N>* p, const UnitRate& rate, F64<N>* c) {
        const Angle<N> w(p[0], rate);
        design_poles(alpha_of(w, p[1]), w.cos, c);
        c[0] = -c[4];
        c[1] = -c[3];
        c[2] = F64<N>(1.0);
    }
};

/// alpha for parameters with a bandwidth in octaves.
template <int N>
SCS_INLINE F64<N> alpha_of_band(const Angle<N>& w, const F32<N>* p, const UnitRate& rate) {
    const F64<N> width = F64<N>(0.34657359027997) * convert<double>(p[1]) * angle(p[0], rate);
    return w.sin * sinh(width / w.sin);
}

struct BandPass : Biquad {
    static constexpr int parameters = 2;
    static constexpr Tracking tracking{true, Tracking::repeats};
    template <int N>
    SCS_INLINE static void design(const F32<N>* p, const UnitRate& rate, F64<N>* c) {
        const Angle<N> w(p[0], rate);
        const F64<N> alpha = alpha_of_band(w, p, rate);
        c[0] = alpha * design_poles(alpha, w.cos, c);
        c[1] = F64<N>(0.0);
        c[2] = -c[0];
    }
};

struct BandStop : Biquad {
    static constexpr int parameters = 2;
    static constexpr Tracking tracking{true, Tracking::repeats};
    template <int N>
    SCS_INLINE static void design(const F32<N>* p, const UnitRate& rate, F64<N>* c) {
        const Angle<N> w(p[0], rate);
        c[0] = c[2] = design_poles(alpha_of_band(w, p, rate), w.cos, c);
        c[1] = -c[3];
    }
};

/// The square root of the gain, from dB.
template <int N>
SCS_INLINE F64<N> root_gain(F32<N> db) {
    return exp(convert<double>(db) * F64<N>(0.025 * 2.302585092994045684));
}

struct Peak : Biquad {
    static constexpr int parameters = 3;
    static constexpr Tracking tracking{false, Tracking::reads};
    template <int N>
    SCS_INLINE static void design(const F32<N>* p, const UnitRate& rate, F64<N>* c) {
        const Angle<N> w(p[0], rate);
        const F64<N> one(1.0), a = root_gain(p[2]), alpha = alpha_of(w, p[1]);
        const F64<N> scale = design_poles(alpha / a, w.cos, c);
        c[0] = (one + alpha * a) * scale;
        c[1] = -c[3];
        c[2] = (one - alpha * a) * scale;
    }
};

/// BLowShelf (Sign = 1) and BHiShelf (-1).
template <int Sign>
struct Shelf : Biquad {
    static constexpr int parameters = 3;
    static constexpr Tracking tracking{Sign < 0, Tracking::reads};
    template <int N>
    SCS_INLINE static void design(const F32<N>* p, const UnitRate& rate, F64<N>* c) {
        const Angle<N> w(p[0], rate);
        const F64<N> one(1.0), a = root_gain(p[2]);
        const F64<N> root = sqrt((a + one / a) * (convert<double>(p[1]) - one) + F64<N>(2.0));
        const F64<N> k = F64<N>(2.0) * sqrt(a) * (w.sin * F64<N>(0.5) * root);
        const F64<N> up = a + one, down = a - one, cos = Sign > 0 ? w.cos : -w.cos, two(2.0 * Sign);
        const F64<N> i = up * cos, j = down * cos;
        const F64<N> scale = one / (up + j + k);
        c[0] = a * (up - j + k) * scale;
        c[1] = two * a * (down - i) * scale;
        c[2] = a * (up - j - k) * scale;
        c[3] = two * (down + i) * scale;
        c[4] = (up + j - k) * -scale;
    }
};

/// For parameters that are all at audio rate.
template <class Kind>
struct Tracked {
    static constexpr int parameters = Kind::parameters;
    template <int N>
    using State = typename Recursive<Kind>::template State<N>;

    template <int L>
    struct Run {
        SCS_INLINE static void turn(const Op& op, const Block& block, int lane) {
            auto& s = state<State<L>>(op, block);
            const float *in = input(op, block, 0) + lane, *wires[parameters];
            float* out = output(op, block) + lane;
            F32<1> kept[parameters], now[parameters];
            F64<1> c[5], m[2];
            repeat<parameters>([&](int k) {
                wires[k] = input(op, block, size_t(k + 1)) + lane;
                now[k] = kept[k] = F32<1>(s.parameter[k][lane]);
            });
            repeat<5>([&](int k) { c[k] = F64<1>(s.coefficient[k][lane]); });
            repeat<2>([&](int k) { m[k] = F64<1>(s.memory[k][lane]); });
            const auto frame = [&](int i) {
                out[i * L] = convert<float>(Kind::step(F64<1>(double(in[i * L])), c, m))[0];
            };
            int at = 0, i = 0;
            const auto read = [&](F32<1>* to) {
                repeat<parameters>([&](int k) { to[k] = F32<1>(wires[k][at * L]); });
                ++at;
            };
            const int n = block.frames;
            for (; i + 3 <= n; i += 3) {
                read(now);
                bool changed = false;
                repeat<parameters>([&](int k) { changed = changed || any(now[k] != kept[k]); });
                if (changed) {
                    // Copies, because variables that a call can reach wouldn't stay in registers.
                    F32<1> p[parameters];
                    F64<1> made[5];
                    repeat<parameters>([&](int k) { p[k] = now[k]; });
                    Recursive<Kind>::template design<1>(p, *block.audio, made);
                    repeat<5>([&](int k) { c[k] = made[k]; });
                    if constexpr (Kind::tracking.twice)
                        read(kept);
                    else
                        repeat<parameters>([&](int k) { kept[k] = now[k]; });
                }
                frame(i);
                frame(i + 1);
                frame(i + 2);
            }
            for (; i < n; ++i) {
                frame(i);
                if constexpr (Kind::tracking.after_three == Tracking::reads)
                    read(kept);
                else if constexpr (Kind::tracking.after_three == Tracking::repeats)
                    repeat<parameters>([&](int k) { kept[k] = now[k]; });
            }
            repeat<parameters>([&](int k) { s.parameter[k][lane] = kept[k][0]; });
            repeat<5>([&](int k) { s.coefficient[k][lane] = c[k][0]; });
            repeat<2>([&](int k) { s.memory[k][lane] = zap(m[k])[0]; });
        }
        [[gnu::flatten]] static void run(const Op& op, Block& block) SCS_NONBLOCKING {
            each_lane<L>(block, [&](int lane) { turn(op, block, lane); });
        }
    };

    static constexpr Kernel kernel = lane_kernel<Run, State>(Recursive<Kind>::start_audio);

    static const Kernel* choose(const Signature& s) {
        return s.rate == Rate::audio && s.audio(0) && all_audio(s, parameters) ? &kernel : Recursive<Kind>::choose(s);
    }
};

constexpr NativeUgen list[] = {
    {"BAllPass", Tracked<AllPass>::choose},
    {"BBandPass", Tracked<BandPass>::choose},
    {"BBandStop", Tracked<BandStop>::choose},
    {"BHiPass", Tracked<Pass<-1>>::choose},
    {"BHiShelf", Tracked<Shelf<-1>>::choose},
    {"BLowPass", Tracked<Pass<1>>::choose},
    {"BLowShelf", Tracked<Shelf<1>>::choose},
    {"BPeakEQ", Tracked<Peak>::choose},
    {"SOS", choose_section},
};

constexpr KernelPair pairs[] = {
    Recursive<BandPass>::pair, Recursive<BandStop>::pair,  Recursive<Pass<-1>>::pair, Recursive<Pass<1>>::pair,
    Recursive<Peak>::pair,     Recursive<Shelf<-1>>::pair, Recursive<Shelf<1>>::pair,
};

} // namespace

SCS_FAMILY(equalizers)
SCS_PAIRS(equalizers)

} // namespace scs::SCS_SIMD
