// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/simd/math.hpp"
#include "engine/ugens/families.hpp"
#include "engine/ugens/forms.hpp"
#include "engine/ugens/own-rate.hpp"
#include "engine/ugens/taus88.hpp"

namespace scs::SCS_SIMD {
namespace {

template <int L, class Next>
SCS_INLINE void fill(const Op& op, const Block& block, int lane, Next&& next) {
    float* out = output(op, block) + lane;
    for (int i = 0, n = own_steps<Voices<1>>(op, block); i < n; ++i)
        out[i * L] = next();
}

template <template <int> class K>
void start_by_first_frame(const Op& op, Block& block) {
    run_first_frame(K<1>::run, op, block);
}

template <int L>
struct WhiteNoise {
    static void run(const Op& op, Block& block) {
        each_lane<L>(block, [&](int lane) {
            Taus88 random(block);
            fill<L>(op, block, lane, [&] { return random.bipolar(); });
        });
    }
};

template <int L>
struct ClipNoise {
    static void run(const Op& op, Block& block) {
        each_lane<L>(block, [&](int lane) {
            Taus88 random(block);
            fill<L>(op, block, lane, [&] { return random.coin(); });
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
    static void run(const Op& op, Block& block) {
        auto& s = state<GrayState<L>>(op, block);
        each_lane<L>(block, [&](int lane) {
            Taus88 random(block);
            uint32_t level = s.level[lane];
            fill<L>(op, block, lane, [&] {
                level ^= 1u << (random.draw() & 31);
                return float(int32_t(level)) * 0x1p-31f;
            });
            s.level[lane] = level;
        });
    }
};

// ---- PinkNoise: the sum of dice that are thrown the more rarely the further up they stand (Voss and McCartney)

constexpr int dice = 16;

template <int N>
struct PinkState {
    static constexpr size_t items64 = 0;
    uint32_t total[N];
    uint32_t die[dice][N];
};

template <int L>
struct PinkNoise {
    static void run(const Op& op, Block& block) {
        auto& s = state<PinkState<L>>(op, block);
        each_lane<L>(block, [&](int lane) {
            Taus88 random(block);
            uint32_t total = s.total[lane];
            fill<L>(op, block, lane, [&] {
                const uint32_t thrown = random.draw();
                uint32_t& die = s.die[thrown ? __builtin_ctz(thrown) % dice : 0][lane];
                total += (thrown >> 13) - die;
                die = thrown >> 13;
                // The sum of 17 numbers below 2^19 is the fraction of a float from 2 on.
                const uint32_t sum = (total + (random.draw() >> 13)) | 0x40000000u;
                return __builtin_bit_cast(float, sum) - 3.f;
            });
            s.total[lane] = total;
        });
    }
};

void start_pink_noise(const Op& op, Block& block) {
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
    static void run(const Op& op, Block& block) {
        auto& s = state<BrownState<L>>(op, block);
        each_lane<L>(block, [&](int lane) {
            Taus88 random(block);
            float level = s.level[lane];
            fill<L>(op, block, lane, [&] {
                level += random.eighth();
                if (level > 1.f)
                    level = 2.f - level;
                else if (level < -1.f)
                    level = -2.f - level;
                return level;
            });
            s.level[lane] = level;
        });
    }
};

void start_brown_noise(const Op& op, Block& block) {
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
        static void run(const Op& op, Block& block) {
            each_lane<L>(block, [&](int lane) {
                Taus88 random(block);
                const float chance = float(double(input(op, block, 0)[lane]) * own_rate(op, block).duration);
                const float scale = chance > 0.f ? Kind::range / chance : 0.f;
                fill<L>(op, block, lane, [&] {
                    const float z = random.unipolar();
                    return z < chance ? z * scale + Kind::begin : 0.f;
                });
            });
        }
    };
    static constexpr Kernel kernel = drawing<Run, Stateless>(start_by_first_frame<Run>);
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
    static void run(const Op& op, Block& block) {
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

void start_crackle(const Op& op, Block& block) {
    state<CrackleState<1>>(op, block).y1[0] = float(Taus88(block).fine());
    run_first_frame(Crackle<Scalar>::run, op, block);
}

constexpr AtBothRates<Crackle, CrackleState, Scalar> crackle{start_crackle};

// ---- Hasher, MantissaMask: of an input's bits

/// An input's bits, of any rate.
template <class Form>
SCS_INLINE U32<Form::width> bits_at(const Op& op, const float* wire, int step) {
    return bits<uint32_t>(is_audio(op, 0) ? Form::audio(wire, step) : Form::control(wire));
}

template <class Form>
struct Hasher {
    static constexpr int N = Form::width;
    static void run(const Op& op, Block& block) {
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
    static void run(const Op& op, Block& block) {
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
void start_form(const Op& op, Block& block) {
    run_first_frame(K<Scalar>::run, op, block);
}

constexpr AtBothRates<Hasher, Stateless, Timewise> hasher{start_form<Hasher>};
constexpr AtBothRates<MantissaMask, Stateless, Timewise> mantissa_mask{start_form<MantissaMask>};

constexpr Kernel white_noise = drawing<WhiteNoise, Stateless>(start_by_first_frame<WhiteNoise>);
constexpr Kernel clip_noise = drawing<ClipNoise, Stateless>(start_by_first_frame<ClipNoise>);
constexpr Kernel gray_noise = drawing<GrayNoise, GrayState>(start_by_first_frame<GrayNoise>);
constexpr Kernel pink_noise = drawing<PinkNoise, PinkState>(start_pink_noise);
constexpr Kernel brown_noise = drawing<BrownNoise, BrownState>(start_brown_noise);

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

const std::span<const NativeUgen> noise = list;

} // namespace scs::SCS_SIMD
