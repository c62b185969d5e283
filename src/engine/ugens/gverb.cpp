// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/ugens/families.hpp"
#include "engine/ugens/memory.hpp"
#include "engine/ugens/recursive.hpp"

namespace scs::SCS_SIMD {
namespace {

// GVerb, Juhana Sadeharju's reverb: a tapped delay line for the early reflections, then a feedback network of four
// delays, then diffusers for each side.

enum { in, room_size, reverb_time, p_damping, p_bandwidth, spread, p_dry, p_early, p_tail, largest_room };

constexpr int order = 4;
constexpr int tap_frames = 44000;
constexpr int most_frames = 1 << 24; ///< in all delays together; with more the unit is silent

/// Zeroes denormals and numbers that have blown up, for delay lines and diffusers. In float.
SCS_INLINE float zap(float x) {
    const float size = x < 0.f ? -x : x;
    return size > 1e-15f && size < 1e15f ? x : 0.f;
}

using F = F32<lanes>; ///< `lanes` consecutive frames

SCS_INLINE F zap(F x) {
    const F size = abs(x);
    return select((size > F(1e-15f)) & (size < F(1e15f)), x, 0.f);
}

struct Line {
    float* samples;
    int length, at;

    SCS_INLINE float read(int frames_ago) const {
        const int place = (at - frames_ago) % length; // frames_ago <= 10^9
        return samples[place < 0 ? place + length : place];
    }
    SCS_INLINE void write(float x) {
        samples[at] = zap(x);
        at = at + 1 == length ? 0 : at + 1;
    }

    /// Reads `lanes` frames, from `frames_ago` on. 0 < frames_ago <= length.
    SCS_INLINE F read_frames(int frames_ago) const {
        const int place = at - frames_ago + (at < frames_ago ? length : 0);
        if (place + lanes <= length) [[likely]]
            return F::load(samples + place);
        float made[lanes];
        for (int i = 0; i < lanes; ++i)
            made[i] = samples[place + i < length ? place + i : place + i - length];
        return F::load(made);
    }
    SCS_INLINE void write_frames(F x) {
        const F zapped = zap(x);
        if (at + lanes < length) [[likely]] {
            zapped.store(samples + at);
            at += lanes;
            return;
        }
        for (int i = 0; i < lanes; ++i) {
            samples[at] = zapped[i];
            at = at + 1 == length ? 0 : at + 1;
        }
    }
};

struct Diffuser {
    Line line;
    float gain;

    SCS_INLINE float run(float x) {
        const float before = line.samples[line.at];
        const float raw = x - before * gain;
        const float w = raw < 0x1p-111f && raw > -0x1p-111f ? 0.f : raw;
        line.write(w);
        return before + w * gain;
    }
    /// `lanes` frames at once; the line must be at least that long.
    SCS_INLINE F run(F x) {
        const F before = line.read_frames(line.length), raw = x - before * F(gain);
        const F w = select((raw < F(0x1p-111f)) & (raw > F(-0x1p-111f)), 0.f, raw);
        line.write_frames(w);
        return before + w * F(gain);
    }
};

struct Damper {
    float damping, last;

    SCS_INLINE float run(float x) {
        const float y = float(double(x) * (1.0 - double(damping)) + double(last * damping));
        last = zap(y);
        return y;
    }
};

SCS_INLINE double power(double x, double exponent) {
    return pow(F64<1>(x), F64<1>(exponent))[0];
}

bool is_prime(int n) {
    if (n == 2)
        return true;
    if (n % 2 == 0)
        return false;
    for (int i = 3; i * i <= n; i += 2)
        if (n % i == 0)
            return false;
    return true;
}

/// The prime number nearest to n > 0, at most n / 2 away from it; -1 if there is none. 3.14 looks no further than at n.
int nearest_prime(int n, Release release) {
    if (is_prime(n))
        return n;
    for (int k = 1; k <= n / 2 && release < Release::v3_14; ++k) {
        if (is_prime(n + k))
            return n + k;
        if (is_prime(n - k))
            return n - k;
    }
    return -1;
}

/// Rounds to the nearest integer, halves to even. |x| < 2^22.
SCS_INLINE int rounded(float x) {
    return int_of((x + 12582912.f) - 12582912.f);
}

SCS_INLINE int frames_of(double x) {
    return x > 0.0 ? x < 1e9 ? int(x) : 1000000000 : 0;
}

/// A level that moves linearly over a block after it has changed.
struct Level {
    float value, slope;
};

struct Room {
    Release release;
    float size, time, damping, bandwidth, largest_size;
    double alpha; ///< the decay per frame
    Damper input;
    Line taps, network[order];
    Damper dampers[order];
    Diffuser front, left[order - 1], right[order - 1];
    int tap[order], length[order];
    float tap_gain[order], tap_slope[order], gain[order], slope[order];
    Level dry, early, tail;

    void set_taps(float delay) {
        tap[0] = 5 + frames_of(0.410 * double(delay));
        tap[1] = 5 + frames_of(0.300 * double(delay));
        tap[2] = 5 + frames_of(0.155 * double(delay));
        tap[3] = 5;
    }
    /// The network's gains are computed from alpha in single precision until 3.13.
    float gain_after(int frames) const {
        const double each = release >= Release::v3_14 ? alpha : double(float(alpha));
        return 0.f - float(power(each, double(frames)));
    }
    void set_gains(float each) {
        for (int j = 0; j < order; ++j) {
            const float before = gain[j];
            gain[j] = gain_after(length[j]);
            slope[j] = (gain[j] - before) * each;
        }
    }
    /// Sets all parameters, after one has changed. The gains jump and then move on, as in SuperCollider.
    void set(const float* p, const UnitRate& rate, float each) {
        size = p[room_size];
        if (!(size > 1.f))
            size = 1.f;
        else if (size >= largest_size)
            size = float(double(largest_size) - 1.0);
        const float delay = float(rate.samples * double(size) / 340.0);
        length[1] = frames_of(0.816490 * double(delay));
        length[2] = frames_of(0.707100 * double(delay));
        length[3] = frames_of(0.632450 * double(delay));
        set_taps(delay);
        for (int j = 0; j < order; ++j) {
            const float before = tap_gain[j];
            tap_gain[j] = float(power(alpha, double(tap[j])));
            tap_slope[j] = (tap_gain[j] - before) * each;
        }
        set_gains(each);
        time = p[reverb_time];
        alpha = double(float(power(double(0.001f), double(float(1.0 / (rate.samples * double(time)))))));
        set_gains(each);
        damping = p[p_damping];
        for (Damper& damper : dampers)
            damper.damping = damping;
        bandwidth = p[p_bandwidth];
        input.damping = float(1.0 - double(bandwidth));
    }
    static float go(Level& level, float to, float each) {
        const float from = level.value;
        level.value = to;
        level.slope = (to - from) * each;
        return from;
    }

    /// Computes how far back each of the network's delays and each tap reads in its line. Returns false if something
    /// moves, or is too short to compute several frames at once.
    bool settled(int* back, int* tap_back) const {
        bool well = dry.slope == 0.f && early.slope == 0.f && tail.slope == 0.f && front.line.length >= lanes;
        for (int j = 0; j < order; ++j) {
            const int rest = length[j] % network[j].length;
            back[j] = rest ? rest : network[j].length;
            tap_back[j] = tap[j] % tap_frames + lanes; // + lanes: these frames have been written before the read
            well = well && slope[j] == 0.f && tap_slope[j] == 0.f && back[j] >= lanes && tap_back[j] > lanes &&
                   tap_back[j] <= tap_frames;
        }
        for (int j = 0; j < order - 1; ++j)
            well = well && left[j].line.length >= lanes && right[j].line.length >= lanes;
        return well;
    }

    // ---- the arithmetic of a frame (V is float) or of several at once (V is F)

    /// The input of line j of the network, from the taps u and the damped outputs d of the network's lines.
    template <class V>
    SCS_INLINE static V fed_back(const V* u, const V* d, int j) {
        switch (j) {
        case 0: return u[0] + V(0.5f) * (d[0] + d[1] - d[2] - d[3]);
        case 1: return u[1] + V(0.5f) * (d[0] - d[1] - d[2] + d[3]);
        case 2: return u[2] + V(0.5f) * (-d[0] + d[1] - d[2] + d[3]);
        default: return u[3] + V(0.5f) * (d[0] + d[1] + d[2] + d[3]);
        }
    }
    /// Line j's part of the output. Every second line is inverted.
    template <class V>
    SCS_INLINE static V tapped(V part, int j) {
        return j % 2 == 0 ? part : -part;
    }
    template <class V>
    SCS_INLINE void diffuse(V* sides) {
        for (Diffuser& diffuser : left)
            sides[0] = diffuser.run(sides[0]);
        for (Diffuser& diffuser : right)
            sides[1] = diffuser.run(sides[1]);
    }

    /// Computes several frames at once, except the dampers, which need the frame before.
    template <int L>
    void hold(const float* from, float* const* out, int n, const int* back, const int* tap_back, F dry_now, F early_now,
              F tail_now) {
        for (int i = 0; i < n; i += lanes) {
            float x[lanes], y[lanes], damped[order][lanes];
            for (int k = 0; k < lanes; ++k) {
                const float sample = from[(i + k) * L];
                x[k] = sample == sample ? sample : 0.f;
                y[k] = input.run(x[k]);
            }
            taps.write_frames(front.run(F::load(y)));
            for (int j = 0; j < order; ++j)
                (F(gain[j]) * network[j].read_frames(back[j])).store(damped[j]);
            for (int k = 0; k < lanes; ++k)
                for (int j = 0; j < order; ++j)
                    damped[j][k] = dampers[j].run(damped[j][k]);
            F u[order], d[order], sum(0.f);
            for (int j = 0; j < order; ++j) {
                u[j] = F(tap_gain[j]) * taps.read_frames(tap_back[j]);
                d[j] = F::load(damped[j]);
                sum += tapped(tail_now * d[j] + early_now * u[j], j);
            }
            sum += F::load(x) * early_now;
            for (int j = 0; j < order; ++j)
                network[j].write_frames(fed_back(u, d, j));
            F sides[2] = {sum, sum};
            diffuse(sides);
            for (int c = 0; c < 2; ++c) {
                const F made = sides[c] + F::load(x) * dry_now;
                for (int k = 0; k < lanes && L != 1; ++k)
                    out[c][(i + k) * L] = made[k];
                if (L == 1)
                    made.store(out[c] + i);
            }
        }
    }

    template <int L>
    void run(const float* p, const float* from, float* const* out, int n, const UnitRate& rate) {
        const float each = 1.f / float(n);
        // + 0 makes -0 a 0: otherwise adding the first slope would change it.
        float dry_now = p[p_dry] + 0.f, early_now = p[p_early] + 0.f, tail_now = p[p_tail] + 0.f;
        if (p[room_size] != size || p[reverb_time] != time || p[p_damping] != damping || p[p_bandwidth] != bandwidth ||
            dry_now != dry.value || early_now != early.value || tail_now != tail.value) {
            set(p, rate, each);
            dry_now = go(dry, dry_now, each);
            early_now = go(early, early_now, each);
            tail_now = go(tail, tail_now, each);
        }
        if (int back[order], tap_back[order]; settled(back, tap_back))
            return hold<L>(from, out, n, back, tap_back, dry_now, early_now, tail_now);
        for (int i = 0; i < n; ++i) {
            const float sample = from[i * L];
            const float x = sample == sample ? sample : 0.f;
            const float z = front.run(input.run(x));
            float u[order], d[order];
            for (int j = 0; j < order; ++j)
                u[j] = tap_gain[j] * taps.read(tap[j]);
            taps.write(z);
            float sum = 0.f;
            for (int j = 0; j < order; ++j) {
                d[j] = dampers[j].run(gain[j] * network[j].read(length[j]));
                sum += tapped(tail_now * d[j] + early_now * u[j], j);
            }
            sum += x * early_now;
            for (int j = 0; j < order; ++j)
                network[j].write(fed_back(u, d, j));
            float sides[2] = {sum, sum};
            diffuse(sides);
            for (int c = 0; c < 2; ++c)
                out[c][i * L] = sides[c] + x * dry_now;
            dry_now += dry.slope;
            tail_now += tail.slope;
            early_now += early.slope;
            for (int j = 0; j < order; ++j) {
                gain[j] += slope[j];
                tap_gain[j] += tap_slope[j];
            }
        }
        for (int j = 0; j < order; ++j)
            slope[j] = tap_slope[j] = 0.f;
        dry.slope = early.slope = tail.slope = 0.f;
    }
};

/// The lengths of a side's diffusers. `first` and `second`, scaled by the spread, shift the boundaries between them.
struct Lengths {
    int of[order];
    Lengths(float scale, float spread, float first, float second) {
        const int b = 210, c = 210 + 159 + int_of(spread * first);
        const int d = 210 + 159 + 562 + int_of(float(3.0 * double(spread)) * second);
        const int parts[order] = {b, c - b, d - c, 1341 - d};
        for (int j = 0; j < order; ++j)
            of[j] = rounded(scale * float(parts[j]));
    }
};

/// Allocates and sets up a Room in one block of memory. Returns null if there is none, or the delays would be too long.
Room* make_room(const Op& op, const Block& block) {
    const auto p = [&](int index) { return *input(op, block, size_t(index)); };
    const double rate = block.audio->samples;
    const float delay = float(rate * double(p(room_size)) / double(340.f));
    if (!(delay >= 1.f && delay < float(most_frames / 8)))
        return nullptr;
    int length[order] = {nearest_prime(int(delay), block.space->release), rounded(0.816490f * delay),
                         rounded(0.707100f * delay), rounded(0.632450f * delay)};
    const float scale = float(double(float(length[3])) / (210. + 159. + 562. + 410.));
    const float wide = p(spread);
    if (!(wide > -300.f && wide < 300.f))
        return nullptr;
    const Lengths left(scale, wide, 0.125541f, 0.854046f), right(scale, wide, -0.568366f, -0.126815f);

    int frames = tap_frames;
    const auto reserve = [&](int& wanted) {
        wanted = wanted < 1 ? 1 : wanted;
        const int at = frames;
        frames += wanted;
        return at;
    };
    int places[order], sizes[order], diffuser_sizes[2 * order - 1], diffuser_places[2 * order - 1];
    for (int j = 0; j < order; ++j) {
        sizes[j] = length[j];
        places[j] = reserve(sizes[j]);
    }
    for (int j = 0; j < 2 * order - 1; ++j) {
        diffuser_sizes[j] = j < order ? left.of[j] : right.of[j - order + 1];
        diffuser_places[j] = reserve(diffuser_sizes[j]);
    }
    if (frames > most_frames)
        return nullptr;
    auto* memory = claim<char>(block, sizeof(Room) + size_t(frames) * sizeof(float));
    if (!memory)
        return nullptr;
    Room& room = *reinterpret_cast<Room*>(memory);
    room = Room{};
    float* samples = reinterpret_cast<float*>(memory + sizeof(Room));
    for (int i = 0; i < frames; ++i)
        samples[i] = 0.f;
    room.release = block.space->release;
    room.size = p(room_size);
    room.time = p(reverb_time);
    room.damping = p(p_damping);
    room.largest_size = p(largest_room);
    if (room.release >= Release::v3_14 && !(room.largest_size >= 1.0001f))
        room.largest_size = 1.0001f;
    room.alpha = power(double(0.001f), 1.0 / double(float(rate * double(room.time))));
    room.input.damping = 1.f;
    room.taps = {samples, tap_frames, 0};
    for (int j = 0; j < order; ++j) {
        room.length[j] = length[j];
        room.gain[j] = room.gain_after(length[j]);
        room.network[j] = {samples + places[j], sizes[j], 0};
        room.dampers[j].damping = room.damping;
    }
    for (int j = 0; j < 2 * order - 1; ++j) {
        Diffuser& to = j == 0 ? room.front : j < order ? room.left[j - 1] : room.right[j - order];
        const int stage = j < order ? j : j - order + 1;
        to = {{samples + diffuser_places[j], diffuser_sizes[j], 0}, stage < 2 ? 0.75f : 0.625f};
    }
    room.set_taps(delay);
    for (int j = 0; j < order; ++j)
        room.tap_gain[j] = float(power(room.alpha, double(room.tap[j])));
    return &room;
}

template <int N>
struct VerbState {
    static constexpr size_t items64 = 1;
    Room* room[N]; ///< null without memory
};

template <int L>
struct Run {
    static void run(const Op& op, Block& block) SCS_NONBLOCKING {
        each_lane<L>(block, [&](int lane) {
            Room* room = state<VerbState<L>>(op, block).room[lane];
            const float* from = input(op, block, in) + lane;
            float* const out[2] = {output(op, block, 0) + lane, output(op, block, 1) + lane};
            if (room) {
                float p[largest_room + 1];
                for (int k = 1; k <= largest_room; ++k)
                    p[k] = input(op, block, size_t(k))[lane];
                return room->run<L>(p, from, out, block.frames, *block.audio);
            }
            for (int i = 0; i < block.frames; ++i)
                out[0][i * L] = out[1][i * L] = 0.f;
        });
    }
};

void start(const Op& op, Block& block) SCS_NONBLOCKING {
    state<VerbState<1>>(op, block).room[0] = make_room(op, block);
    *output(op, block, 0) = *output(op, block, 1) = 0.f;
}

constexpr Kernel kernel = [] {
    Kernel made = lane_kernel<Run, VerbState>(start);
    made.stop = give_back<&VerbState<1>::room>;
    return made;
}();

constexpr NativeUgen list[] = {
    {"GVerb", [](const Signature& s) { return s.rate == Rate::audio && s.audio(in) ? &kernel : nullptr; }},
};

} // namespace

SCS_FAMILY(gverb)

} // namespace scs::SCS_SIMD
