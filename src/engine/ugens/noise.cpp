// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/simd/math.hpp"
#include "engine/ugens/families.hpp"
#include "engine/ugens/forms.hpp"
#include "engine/ugens/own-rate.hpp"
#include "engine/ugens/rows.hpp"
#include "engine/ugens/taus88-blocks.hpp"

namespace scs::SCS_SIMD {
namespace {

constexpr int piece = block_multiple; ///< frames for which numbers are drawn at once

/// Computes a unit that draws `Draws` numbers a frame. At audio rate, calls fill(lane, random, to) for each piece of a
/// voice: `random` has the numbers of the piece, and `to` takes its samples, contiguous. At control rate, calls
/// first(lane, random) for the single sample.
template <int L, int Draws, class Fill, class First>
SCS_INLINE void each_piece(const Op& op, Block& block, Fill&& fill, First&& first) {
    float* out = output(op, block);
    const int n = own_frames(op, block);
    if (n == 1) {
        each_lane<L>(block, [&](int lane) {
            Taus88 random(block);
            out[lane] = first(lane, random);
        });
        return;
    }
    Taus88Blocks<Draws * piece> random(block);
    each_lane<L>(block, [&](int lane) SCS_INLINE_LAMBDA {
        float* to = L == 1 ? out : row(block, 0, lane);
        for (int from = 0; from < n; from += piece) {
            random.next();
            fill(lane, random, to + from);
        }
    });
    if constexpr (L > 1)
        weave(block, 0, out);
}

/// For samples that depend on one number each: map(lane, number).
template <int L, class Map>
SCS_INLINE void each_number(const Op& op, Block& block, Map&& map) {
    each_piece<L, 1>(
        op, block,
        [&](int lane, const auto& random, float* to) SCS_INLINE_LAMBDA {
            for (int i = 0; i < piece; i += lanes)
                map(lane, random.at(i)).store(to + i);
        },
        [&](int lane, Taus88& random) SCS_INLINE_LAMBDA { return map(lane, U32<1>(random.draw()))[0]; });
}

/// For samples that depend on one number each and on those before: next(lane, number).
template <int L, class Next>
SCS_INLINE void each_in_turn(const Op& op, Block& block, Next&& next) {
    each_piece<L, 1>(
        op, block,
        [&](int lane, const auto& random, float* to) SCS_INLINE_LAMBDA {
            for (int i = 0; i < piece; ++i)
                to[i] = next(lane, random.numbers()[i]);
        },
        [&](int lane, Taus88& random) SCS_INLINE_LAMBDA { return next(lane, random.draw()); });
}

/// The upper 23 bits times `unit`: from 0 up to, not including, 2^23 * unit.
template <int N>
SCS_INLINE F32<N> fraction(U32<N> number, float unit) {
    return convert<float>(bits<int32_t>(number >> 9)) * F32<N>(unit);
}

template <template <int> class K>
void start_by_first_frame(const Op& op, Block& block) SCS_NONBLOCKING {
    run_first_frame(K<1>::run, op, block);
}

template <int L>
struct WhiteNoise {
    [[gnu::flatten]] static void run(const Op& op, Block& block) SCS_NONBLOCKING {
        each_number<L>(op, block, [](int, auto number) SCS_INLINE_LAMBDA {
            return fraction(number, 0x1p-22f) - F32<number.width>(1.f);
        });
    }
};

template <int L>
struct ClipNoise {
    [[gnu::flatten]] static void run(const Op& op, Block& block) SCS_NONBLOCKING {
        each_number<L>(op, block, [](int, auto number) SCS_INLINE_LAMBDA {
            constexpr int N = number.width;
            return bits<float>((number & U32<N>(0x80000000u)) | bits<uint32_t>(F32<N>(1.f)));
        });
    }
};

// ---- GrayNoise: a random bit flips each frame

template <int N>
struct GrayState {
    static constexpr size_t items64 = 0;
    uint32_t level[N];
};

template <int L>
struct GrayNoise {
    static void run(const Op& op, Block& block) SCS_NONBLOCKING {
        auto& s = state<GrayState<L>>(op, block);
        each_in_turn<L>(op, block, [&](int lane, uint32_t number) SCS_INLINE_LAMBDA {
            s.level[lane] ^= 1u << (number & 31);
            return float(int32_t(s.level[lane])) * 0x1p-31f;
        });
    }
};

// ---- PinkNoise: the sum of 16 random numbers, the dice, each redrawn half as often as the one before (Voss,
// McCartney)

constexpr int dice = 16;

template <int N>
struct PinkState {
    static constexpr size_t items64 = 0;
    uint32_t total[N];
    uint32_t die[dice][N];
};

template <int L>
struct PinkNoise {
    /// Which of the dice a random number redraws: that of its lowest set bit; the first one for zero.
    template <int N>
    SCS_INLINE static U32<N> die_of(U32<N> number) {
        // The position of a bit is its exponent as a float, less 127. (The highest bit is negative as an integer.)
        const auto bit = bits<int32_t>(number) & -bits<int32_t>(number);
        const auto exponent = bits<int32_t>(convert<float>(bit)) >> 23;
        return bits<uint32_t>((exponent + I32<N>(1) + (bit == I32<N>(0))) & I32<N>(dice - 1));
    }
    /// Adds one more number, drawn in every frame. The sum of 17 numbers below 2^19 is put into the fraction of a float
    /// from 2 to 4.
    template <int N>
    SCS_INLINE static F32<N> sample(U32<N> total, U32<N> number) {
        return bits<float>((total + (number >> 13)) | U32<N>(0x40000000u)) - F32<N>(3.f);
    }

    [[gnu::flatten]] static void run(const Op& op, Block& block) SCS_NONBLOCKING {
        auto& s = state<PinkState<L>>(op, block);
        each_piece<L, 2>(
            op, block,
            [&](int lane, const auto& random, float* to) SCS_INLINE_LAMBDA {
                const auto* pairs = reinterpret_cast<const uint64_t*>(random.numbers());
                uint32_t throws[piece], places[piece];
                for (int i = 0; i < piece; i += lanes) {
                    const auto number = upper_half(U64<lanes>::load(pairs + i) << 32);
                    (number >> 13).store(throws + i);
                    die_of(number).store(places + i);
                }
                uint32_t faces[dice];
                for (int i = 0; i < dice; ++i)
                    faces[i] = s.die[i][lane];
                uint32_t total = s.total[lane];
#pragma GCC unroll 4
                for (int i = 0; i < piece; ++i) {
                    total -= faces[places[i]];
                    total += faces[places[i]] = throws[i];
                    throws[i] = total;
                }
                s.total[lane] = total;
                for (int i = 0; i < dice; ++i)
                    s.die[i][lane] = faces[i];
                for (int i = 0; i < piece; i += lanes)
                    sample(U32<lanes>::load(throws + i), upper_half(U64<lanes>::load(pairs + i))).store(to + i);
            },
            [&](int lane, Taus88& random) SCS_INLINE_LAMBDA {
                const uint32_t number = random.draw();
                uint32_t& face = s.die[die_of(U32<1>(number))[0]][lane];
                s.total[lane] += (number >> 13) - face;
                face = number >> 13;
                return sample(U32<1>(s.total[lane]), U32<1>(random.draw()))[0];
            });
    }
};

void start_pink_noise(const Op& op, Block& block) SCS_NONBLOCKING {
    auto& s = state<PinkState<1>>(op, block);
    {
        Taus88 random(block);
        for (auto& die : s.die) {
            die[0] = random.draw() >> 13;
            s.total[0] += die[0];
        }
    }
    run_first_frame(PinkNoise<1>::run, op, block);
}

// ---- BrownNoise

template <int N>
struct BrownState {
    static constexpr size_t items64 = 0;
    float level[N];
};

template <int L>
struct BrownNoise {
    static void run(const Op& op, Block& block) SCS_NONBLOCKING {
        auto& s = state<BrownState<L>>(op, block);
        each_in_turn<L>(op, block, [&](int lane, uint32_t number) SCS_INLINE_LAMBDA {
            float level = s.level[lane] + (fraction(U32<1>(number), 0x1p-25f)[0] - 0.125f);
            level = level > 1.f ? 2.f - level : level < -1.f ? -2.f - level : level;
            return s.level[lane] = level;
        });
    }
};

void start_brown_noise(const Op& op, Block& block) SCS_NONBLOCKING {
    *output(op, block) = state<BrownState<1>>(op, block).level[0] = Taus88(block).bipolar();
}

// ---- Dust, Dust2

struct Unipolar {
    static constexpr float range = 1.f, begin = 0.f;
};
struct Bipolar {
    static constexpr float range = 2.f, begin = -1.f;
};

template <class Kind>
struct Dust {
    template <int L>
    struct Run {
        [[gnu::flatten]] static void run(const Op& op, Block& block) SCS_NONBLOCKING {
            // Read first, as the density may share memory with the output.
            float chances[L], scales[L];
            each_lane<L>(block, [&](int lane) {
                const float chance = float(double(input(op, block, 0)[lane]) * own_rate(op, block).duration);
                chances[lane] = chance;
                scales[lane] = chance > 0.f ? Kind::range / chance : 0.f;
            });
            each_number<L>(op, block, [&](int lane, auto number) SCS_INLINE_LAMBDA {
                using F = F32<number.width>;
                const auto z = fraction(number, 0x1p-23f);
                return select(z < F(chances[lane]), z * F(scales[lane]) + F(Kind::begin), 0.f);
            });
        }
    };
    static constexpr Kernel kernel = drawing<Run, Stateless>(start_by_first_frame<Run>, 1);
};

// ---- Crackle: a chaotic equation

template <int N>
struct CrackleState {
    static constexpr size_t items64 = 0;
    float y1[N], y2[N];
};

template <class Form>
struct Crackle {
    static constexpr int N = Form::width;
    static void run(const Op& op, Block& block) SCS_NONBLOCKING {
        auto& s = state<CrackleState<N>>(op, block);
        const auto chaos = Form::control(input(op, block, 0));
        float* out = output(op, block);
        auto y1 = Form::get(s.y1), y2 = Form::get(s.y2);
        for (int i = 0, n = own_steps<Voices<1>>(op, block); i < n; ++i) {
            const auto y0 = abs(y1 * chaos - y2 - F32<N>(0.05f));
            Form::put(out, i, y0);
            y2 = y1;
            y1 = y0;
        }
        Form::keep(s.y1, y1);
        Form::keep(s.y2, y2);
    }
};

void start_crackle(const Op& op, Block& block) SCS_NONBLOCKING {
    state<CrackleState<1>>(op, block).y1[0] = float(Taus88(block).fine());
    run_first_frame(Crackle<Scalar>::run, op, block);
}

constexpr AtBothRates<Crackle, CrackleState, Scalar> crackle{start_crackle};

// ---- Hasher, MantissaMask: operations on the bits of an input

/// An input's bits, at any rate.
template <class Form>
SCS_INLINE U32<Form::width> bits_at(const Op& op, const float* wire, int step) {
    return bits<uint32_t>(is_audio(op, 0) ? Form::audio(wire, step) : Form::control(wire));
}

template <class Form>
struct Hasher {
    static constexpr int N = Form::width;
    static void run(const Op& op, Block& block) SCS_NONBLOCKING {
        const float* in = input(op, block, 0);
        float* out = output(op, block);
        for (int i = 0, n = own_steps<Form>(op, block); i < n; ++i) {
            const auto hash = hash_of(bits_at<Form>(op, in, i));
            Form::put(out, i, bits<float>((hash >> 9) | U32<N>(0x40000000u)) - F32<N>(3.f));
        }
    }
};

template <class Form>
struct MantissaMask {
    static constexpr int N = Form::width;
    static void run(const Op& op, Block& block) SCS_NONBLOCKING {
        const float* in = input(op, block, 0);
        float* out = output(op, block);
        uint32_t masks[Form::state_lanes];
        for (int k = 0; k < Form::state_lanes; ++k)
            masks[k] = 0xffffffffu << ((23u - uint32_t(int_of(input(op, block, 1)[k]))) % 32);
        const auto mask = Form::get(masks);
        for (int i = 0, n = own_steps<Form>(op, block); i < n; ++i)
            Form::put(out, i, bits<float>(bits_at<Form>(op, in, i) & mask));
    }
};

template <template <class> class K>
void start_form(const Op& op, Block& block) SCS_NONBLOCKING {
    run_first_frame(K<Scalar>::run, op, block);
}

constexpr AtBothRates<Hasher, Stateless, Timewise> hasher{start_form<Hasher>};
constexpr AtBothRates<MantissaMask, Stateless, Timewise> mantissa_mask{start_form<MantissaMask>};

constexpr Kernel white_noise = drawing<WhiteNoise, Stateless>(start_by_first_frame<WhiteNoise>, 1);
constexpr Kernel clip_noise = drawing<ClipNoise, Stateless>(start_by_first_frame<ClipNoise>, 1);
constexpr Kernel gray_noise = drawing<GrayNoise, GrayState>(start_by_first_frame<GrayNoise>, 1);
constexpr Kernel pink_noise = drawing<PinkNoise, PinkState>(start_pink_noise, 2);
constexpr Kernel brown_noise = drawing<BrownNoise, BrownState>(start_brown_noise, 1);

constexpr NativeUgen list[] = {
    {"BrownNoise", [](const Signature&) { return &brown_noise; }},
    {"ClipNoise", [](const Signature&) { return &clip_noise; }},
    {"Crackle", [](const Signature& s) { return crackle.of(s); }},
    {"Dust", [](const Signature&) { return &Dust<Unipolar>::kernel; }},
    {"Dust2", [](const Signature&) { return &Dust<Bipolar>::kernel; }},
    {"GrayNoise", [](const Signature&) { return &gray_noise; }},
    {"Hasher", [](const Signature& s) { return hasher.of(s); }},
    {"MantissaMask", [](const Signature& s) { return mantissa_mask.of(s); }},
    {"PinkNoise", [](const Signature&) { return &pink_noise; }},
    {"WhiteNoise", [](const Signature&) { return &white_noise; }},
};

} // namespace

SCS_FAMILY(noise)

} // namespace scs::SCS_SIMD
