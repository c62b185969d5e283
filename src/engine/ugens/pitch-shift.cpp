// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/simd/gather.hpp"
#include "engine/ugens/delay-line.hpp"
#include "engine/ugens/families.hpp"
#include "engine/ugens/memory.hpp"
#include "engine/ugens/taus88.hpp"

namespace scs::SCS_SIMD {
namespace {

// PitchShift: four heads read a delay line at a speed of their own, a quarter of a window after each other. Each fades
// in from where its grain begins, and out again, in triangles of a window. Places and ramps are summed up frame by
// frame in single precision as in SuperCollider, for the same rounding.

enum { in, window, ratio, ratio_dispersion, time_dispersion };
constexpr int heads = 4;

template <int N>
struct PitchShiftState {
    static constexpr size_t items64 = 1;
    float* line[N];              ///< after its last sample it has the first one again
    uint32_t mask[N];            ///< of the line
    uint32_t newest[N];          ///< the last index that was written
    uint32_t full[N];            ///< whether all of the line has been
    int32_t window[N];           ///< frames
    int32_t counter[N], head[N]; ///< frames until the next grain, and whose the last one was
    float place[heads][N];       ///< how many frames before the newest each reads
    float place_slope[heads][N];
    float ramp[heads][N], ramp_slope[heads][N];
};

/// Seconds. SuperCollider before 3.14 never returns from windows of less than three frames.
SCS_INLINE double window_of(const Op& op, const Block& block) {
    const float asked = *input(op, block, window), least = float(3. * block.audio->duration);
    const double most = longest_line / (4. * block.audio->samples);
    return asked >= least ? (double(asked) < most ? double(asked) : most) : double(least);
}

/// A voice's block.
template <int L>
class Shifter {
public:
    SCS_INLINE Shifter(const Op& op, const Block& block, int lane)
        : s_(state<PitchShiftState<L>>(op, block)), lane_(lane) {
        const auto held = [&](int index) { return input(op, block, size_t(index))[lane]; };
        ratio_ = held(ratio);
        ratio_spread_ = held(ratio_dispersion);
        const float most = held(window), asked = held(time_dispersion);
        // No more than a line has room for, that places stay integers' numbers.
        const double spread = double(asked < most ? asked : most) * block.audio->samples;
        time_spread_ = spread > 0. ? float(spread < longest_line ? spread : longest_line) : 0.f;
    }

    SCS_INLINE void run(const float* from, float* to, int frames, Taus88& random) {
        for (int i = 0; i < frames;) {
            if (s_.counter[lane_] <= 0)
                begin_grain(random);
            const auto least = [](int a, int b) { return a < b ? a : b; };
            int count = least(frames - i, s_.counter[lane_]);
            if (const auto unwritten = int(s_.mask[lane_] - s_.newest[lane_]); s_.full[lane_]) {
                shift<true>(from + i * L, to + i * L, count);
            } else if (unwritten == 0) {
                s_.full[lane_] = true;
                continue;
            } else {
                count = least(count, unwritten);
                shift<false>(from + i * L, to + i * L, count);
            }
            s_.counter[lane_] -= count;
            i += count;
        }
    }

private:
    SCS_INLINE void begin_grain(Taus88& random) {
        const int32_t frames = s_.window[lane_], head = (s_.head[lane_] + 1) & (heads - 1);
        s_.counter[lane_] = frames >> 2;
        s_.head[lane_] = head;
        float speed = ratio_;
        if (ratio_spread_ != 0.f)
            speed += ratio_spread_ * random.bipolar();
        const float faster = (speed > 0.f ? (speed < 4.f ? speed : 4.f) : 0.f) - 1.f;
        s_.place[head][lane_] = (faster < 0.f ? 2.f : float(frames) * faster + 2.f) + time_spread_ * random.unipolar();
        s_.ramp[head][lane_] = 0.f;
        const float slope = 2.f / float(frames);
        s_.place_slope[head][lane_] = -faster;
        s_.ramp_slope[head][lane_] = slope;
        s_.ramp_slope[(head + 2) & (heads - 1)][lane_] = -slope;
    }

    /// Frames without a new grain. Full: all of the line has been written.
    template <bool Full>
    void shift(const float* from, float* to, int frames) {
        float* const line = s_.line[lane_];
        const uint32_t mask = s_.mask[lane_];
        uint32_t newest = s_.newest[lane_];
        auto place = of_heads(s_.place), ramp = of_heads(s_.ramp);
        const auto place_slope = of_heads(s_.place_slope), ramp_slope = of_heads(s_.ramp_slope);
        for (int i = 0; i < frames; ++i) {
            newest = (newest + 1) & mask;
            place += place_slope;
            const auto whole = convert<int32_t>(place);
            const auto at = (U32<heads>(newest) - bits<uint32_t>(whole)) & U32<heads>(mask);
            const auto before = (at - U32<heads>(1)) & U32<heads>(mask);
            auto [b, a] = gather(line, bits<int32_t>(before));
            if constexpr (!Full) {
                const I32<heads> last{int32_t(newest)};
                a = select(bits<int32_t>(at) <= last, a, 0.f);
                b = select(bits<int32_t>(before) <= last, b, 0.f);
            }
            const auto each = (a + (place - convert<float>(whole)) * (b - a)) * ramp;
            ramp += ramp_slope;
            line[newest] = from[i * L];
            if (newest == 0)
                line[mask + 1] = line[0];
            to[i * L] = (each[0] + each[1] + each[2] + each[3]) * 0.5f;
        }
        s_.newest[lane_] = newest;
        for (int k = 0; k < heads; ++k) {
            s_.place[k][lane_] = place[k];
            s_.ramp[k][lane_] = ramp[k];
        }
    }

    SCS_INLINE F32<heads> of_heads(const float (&items)[heads][L]) const {
        float here[heads];
        for (int k = 0; k < heads; ++k)
            here[k] = items[k][lane_];
        return F32<heads>::load(here);
    }

    PitchShiftState<L>& s_;
    const int lane_;
    float ratio_, ratio_spread_, time_spread_; ///< the last in frames
};

template <int L>
struct PitchShift {
    static void run(const Op& op, Block& block) SCS_NONBLOCKING {
        const auto& s = state<PitchShiftState<L>>(op, block);
        Taus88 random(block);
        each_lane<L>(block, [&](int lane) {
            float* out = output(op, block) + lane;
            if (s.line[lane])
                return Shifter<L>(op, block, lane).run(input(op, block, in) + lane, out, block.frames, random);
            for (int i = 0; i < block.frames; ++i)
                out[i * L] = 0.f;
        });
    }
};

void start(const Op& op, Block& block) SCS_NONBLOCKING {
    auto& s = state<PitchShiftState<1>>(op, block);
    const double frames = window_of(op, block) * block.audio->samples;
    const int64_t length = line_of(int64_t(ceil(F64<1>(frames * 3. + 3.))[0]) + block.frames);
    s.line[0] = claim<float>(block, size_t(length) + 1);
    if (s.line[0])
        s.line[0][0] = s.line[0][length] = *input(op, block, in);
    else
        complain_of_memory(op, block);
    s.mask[0] = uint32_t(length - 1);
    s.window[0] = (int_of(frames) + 2) & ~3;
    s.counter[0] = s.window[0] >> 2;
    s.head[0] = heads - 1;
    const float slope = 2.f / float(s.window[0]);
    constexpr float ramps[heads] = {0.5f, 1.f, 0.5f, 0.f};
    for (int k = 0; k < heads; ++k) {
        s.place[k][0] = 2.f;
        s.place_slope[k][0] = 1.f; // which reads silence
        s.ramp[k][0] = ramps[k];
        s.ramp_slope[k][0] = k < 2 ? -slope : slope;
    }
    *output(op, block) = 0.f;
}

constexpr Kernel kernel = [] {
    Kernel made = drawing<PitchShift, PitchShiftState>(start);
    made.stop = give_back<&PitchShiftState<1>::line>;
    return made;
}();

constexpr NativeUgen list[] = {
    {"PitchShift",
     [](const Signature& s) {
         return s.rate == Rate::audio && s.audio(in) && s.inputs.size() == 5 ? &kernel : nullptr;
     }},
};

} // namespace

SCS_FAMILY(pitch_shift)

} // namespace scs::SCS_SIMD
