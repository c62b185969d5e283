// SPDX-License-Identifier: GPL-3.0-or-later
// BufRd two hours into a file: how far it is off from the same interpolation at the exact place. Run it with -s to see
// the decibels of each case.
#include "engine/synthdef/fine-phases.hpp"
#include "test-support.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <doctest/doctest.h>
#include <sys/mman.h>

using namespace scs;
using namespace scs::test;

namespace {

constexpr int rate = 48000;
constexpr int32_t far = 2 * 60 * 60 * rate, buffer_frames = far + 2 * rate;
constexpr int played = 1024;    ///< frames
constexpr int changed_at = 512; ///< the frame when control 0 changes

using Places = std::array<double, played>;

/// What a buffer has at a frame, and between two: three sines below a tenth of the rate.
double signal(double frame) {
    double sum = 0;
    for (const double frequency : {0.0113, 0.0371, 0.0927})
        sum += 0.3 * std::sin(2 * M_PI * std::fmod(frequency * frame, 1.));
    return sum;
}

/// A buffer of two hours, of which only what is read is in memory.
class LongBuffer {
public:
    LongBuffer() {
        void* const memory =
            mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        REQUIRE(memory != MAP_FAILED);
        data_ = static_cast<float*>(memory);
    }
    ~LongBuffer() { munmap(data_, bytes); }
    void fill_around(double place) {
        for (int64_t frame = int64_t(place) - 4; frame < int64_t(place) + 6; ++frame)
            if (frame >= 0 && frame < buffer_frames)
                data_[frame] = float(signal(double(frame)));
    }
    double read(double place, int points) const {
        const auto at = int64_t(place);
        const double x = place - double(at), a = data_[at - 1], b = data_[at], c = data_[at + 1], d = data_[at + 2];
        if (points == 2)
            return b + x * (c - b);
        const double c1 = 0.5 * (c - a), c2 = a - 2.5 * b + 2. * c - 0.5 * d, c3 = 0.5 * (d - a) + 1.5 * (b - c);
        return ((c3 * x + c2) * x + c1) * x + b;
    }
    Buffer get() { return {data_, buffer_frames, 1, rate}; }

private:
    static constexpr size_t bytes = size_t(buffer_frames) * sizeof(float);
    float* data_;
};

double decibels(double power, double of) {
    return 10. * std::log10(power / of + 1e-30);
}

struct Case {
    std::string name;
    std::vector<float> constants; ///< from number 3 on, after 0, 1 and the interpolation's points
    std::vector<UnitSpec> phase;  ///< units from number 1 on; the last one's output is the phase
    double (*place)(int frame);
    float control = 0, later = 0; ///< of control 0, from its frame `changed_at` on, too
};

constexpr InputRef zero{-1, 0}, one{-1, 1}, control{0, 0}, first{1, 0}, second{2, 0};
constexpr InputRef constant(uint32_t index) {
    return {-1, 3 + index};
}
UnitSpec audio(const char* name, std::vector<InputRef> inputs, int16_t special = 0) {
    return unit(name, Rate::audio, std::move(inputs), {Rate::audio}, special);
}
enum Operator : int16_t { plus, minus, times, over = 4, modulo };

const UnitSpec phasor = audio("Phasor", {zero, constant(0), constant(1), constant(2), zero});
const UnitSpec sweep = audio("Sweep", {zero, constant(0)});
/// A Phasor's place, which it sums up in double precision.
double phase_of(float begin, float step, int frame) {
    double place = begin;
    for (int i = 0; i < frame; ++i)
        place += double(step);
    return place;
}

/// How often a Sweep or a Line has risen in a frame: until 3.13 once in the first one, since then not yet.
int rises(int frame) {
    static const int first = release_to_follow(Settings()) >= Release::v3_14 ? 0 : 1;
    return frame + first;
}
double swept(int frame) {
    return rises(frame) * (double(14400.f) / rate);
}

constexpr float wrap_begin = 32000.f, wrap_end = far + 32000.f; // numbers of single precision, as 2 * wrap_end - 128

/// A saw, whose steps are in single precision.
double sawed(float begin, float frequency, int frame) {
    const float hertz(2. / rate);
    return phase_of(begin, frequency * hertz, rises(frame));
}

const Case cases[] = {
    {"a Phasor",
     {0.3f, float(far), float(buffer_frames)},
     {phasor},
     [](int i) { return phase_of(float(far), 0.3f, i); }},
    {"a Line",
     {float(far), far + 512.f, 1024.f / rate},
     {audio("Line", {constant(0), constant(1), constant(2), zero})},
     [](int i) { return far + rises(i) * 0.5; }},
    {"Sweep + a number",
     {14400.f, float(far)},
     {sweep, audio("BinaryOpUGen", {first, constant(1)}, plus)},
     [](int i) { return far + swept(i); }},
    {"Phasor - a control",
     {0.3f, float(far) + rate, float(buffer_frames)},
     {phasor, audio("BinaryOpUGen", {first, control}, minus)},
     [](int i) { return phase_of(float(far) + rate, 0.3f, i) - 32000; },
     32000.f,
     32000.f},
    {"Phasor * BufFrames",
     {0.9e-9f, 0.99f, 1.f},
     {phasor, audio("BinaryOpUGen", {first, control}, times)},
     [](int i) { return phase_of(0.99f, 0.9e-9f, i) * buffer_frames; },
     float(buffer_frames),
     float(buffer_frames)},
    {"Phasor / a number",
     {0.6e-9f, 0.66f, 1.f, 1.f / buffer_frames},
     {phasor, audio("BinaryOpUGen", {first, constant(3)}, over)},
     [](int i) { return phase_of(0.66f, 0.6e-9f, i) / double(1.f / buffer_frames); }},
    {"Sweep * a number + a control",
     {14400.f, 1.25f},
     {sweep, audio("MulAdd", {first, constant(1), control})},
     [](int i) { return swept(i) * 1.25 + far; },
     float(far),
     float(far)},
    {"Sweep + a control that changes",
     {14400.f},
     {sweep, audio("BinaryOpUGen", {control, first}, plus)},
     [](int i) { return swept(i) + far + std::clamp(i - changed_at, 0, 64); },
     float(far),
     float(far) + 64.f},
    {"Sweep + a sound + a control",
     {14400.f, 0.37f},
     {sweep, audio("DC", {constant(1)}), audio("Sum3", {first, second, control})},
     [](int i) { return swept(i) + double(0.37f) + far; },
     float(far),
     float(far)},
    {"(Sweep * a number + a control) * 0.5 + two more",
     {14400.f, 1.25f, 0.5f, 1e8f, -96.f},
     {sweep, audio("MulAdd", {first, constant(1), control}), audio("BinaryOpUGen", {second, constant(2)}, times),
      audio("Sum4", {{3, 0}, constant(3), constant(4), one})},
     [](int i) { return (swept(i) * 1.25 + far) * 0.5 + 1e8 - 96. + 1.; },
     float(far),
     float(far)},
    {"(LFSaw * 0.5 + 0.5) * BufFrames",
     {0.9e-9f * rate / 2, 0.98f, 0.5f},
     {audio("LFSaw", {constant(0), constant(1)}), audio("MulAdd", {first, constant(2), constant(2)}),
      audio("BinaryOpUGen", {second, control}, times)},
     [](int i) { return (sawed(0.98f, 0.9e-9f * rate / 2, i) * 0.5 + 0.5) * buffer_frames; },
     float(buffer_frames),
     float(buffer_frames)},
    {"-LFSaw.ar * BufFrames, at an audio rate",
     {0.9e-9f * rate / 2, -0.98f, -1.f},
     {audio("DC", {constant(0)}), audio("LFSaw", {first, constant(1)}),
      audio("BinaryOpUGen", {second, constant(2)}, times), audio("BinaryOpUGen", {{3, 0}, control}, times)},
     [](int i) { return -sawed(-0.98f, 0.9e-9f * rate / 2, i) * buffer_frames; },
     float(buffer_frames),
     float(buffer_frames)},
    {"(Sweep + a number) % a control, before and after it wraps",
     {14400.f, 2.f * wrap_end - 128.f, 4096.f},
     {sweep, audio("BinaryOpUGen", {first, constant(1)}, plus), audio("BinaryOpUGen", {second, control}, modulo),
      audio("BinaryOpUGen", {{3, 0}, constant(2)}, plus)},
     [](int i) { return std::fmod(swept(i) + (2. * wrap_end - 128.), wrap_end) + 4096.; },
     wrap_end,
     wrap_end},
    {"Wrap.ar(Phasor, a number, a control), before and after it wraps",
     {0.3f, wrap_end - 128.f, 1e9f, wrap_begin},
     {phasor, audio("Wrap", {first, constant(3), control})},
     [](int i) {
         const double place = phase_of(wrap_end - 128.f, 0.3f, i);
         return place < wrap_end ? place : place - (wrap_end - wrap_begin);
     },
     wrap_end,
     wrap_end},
};

SynthDef def_of(const Case& one_case, int points, bool hosted) {
    SynthDef def;
    def.name = "reader";
    def.constants = {0.f, 1.f, float(points)};
    def.constants.insert(def.constants.end(), one_case.constants.begin(), one_case.constants.end());
    def.controls = {one_case.control};
    def.control_names = {{"number", 0}};
    def.units = {unit("Control", Rate::control, {}, {Rate::control})};
    def.units.insert(def.units.end(), one_case.phase.begin(), one_case.phase.end());
    const auto phase = int32_t(def.units.size()) - 1;
    def.units.push_back(audio("BufRd", {zero, {phase, 0}, one, {-1, 2}}));
    def.units.push_back(unit("Out", Rate::audio, {zero, {phase + 1, 0}}, {}));
    if (hosted) // a plugin's unit
        def.units.push_back(audio("Hilbert", {{phase + 1, 0}}));
    if (hosted)
        def.units.back().outputs.push_back(Rate::audio);
    return def;
}

/// The mean of the voices' sound, which is the same for each.
std::vector<float> play(const SynthDef& def, const Case& one_case, LongBuffer& buffer, int voices) {
    Fixture f;
    f.engine->buffers().install(0, buffer.get());
    Definition* const definition = f.define(def);
    std::vector<Synth*> synths;
    for (int i = 0; i < voices; ++i)
        synths.push_back(&f.play(*definition, 1 + i));
    std::vector<float> all = f.render(changed_at);
    for (Synth* synth : synths)
        f.engine->tree().controls().set(*synth, 0, one_case.later);
    const std::vector<float> rest = f.render(played - changed_at);
    all.insert(all.end(), rest.begin(), rest.end());
    for (float& sample : all)
        sample /= float(voices);
    f.engine->buffers().install(0, {});
    return all;
}

} // namespace

TEST_CASE("two hours into a file BufRd is less than -120 dB off, through arithmetic, too") {
    for (const Case& one_case : cases) {
        CAPTURE(one_case.name);
        LongBuffer buffer;
        for (int i = 0; i < played; ++i)
            buffer.fill_around(one_case.place(i));
        for (const int points : {2, 4}) {
            CAPTURE(points);
            double power = 0, of_interpolation = 0;
            for (int i = 0; i < played; ++i) {
                const double right = signal(one_case.place(i)), read = buffer.read(one_case.place(i), points);
                power += right * right;
                of_interpolation += (read - right) * (read - right);
            }
            const double own_error = decibels(of_interpolation, power);
            CHECK(own_error < -20); // the interpolation's own
            for (const auto& [by_plugins, number] : {std::pair{false, 1}, {false, 32}, {true, 1}}) {
                const bool hosted = by_plugins; // clang 14 captures no parts of pairs
                const int voices = number;
                CAPTURE(hosted);
                CAPTURE(voices);
                const auto fine = refined_phases(def_of(one_case, points, hosted));
                REQUIRE(fine);
                const auto heard = play(*fine, one_case, buffer, voices);
                double wrong = 0;
                for (int i = 0; i < played; ++i) {
                    const double off = heard[size_t(i)] - buffer.read(one_case.place(i), points);
                    wrong += off * off;
                }
                const double error = decibels(wrong, power);
                CHECK(error < -120);
            }
        }
    }
}

TEST_CASE("what a BufRd needs of its phase changes no bit of the phase, but next to where it wraps") {
    LongBuffer buffer;
    for (const Case& one_case : cases) {
        CAPTURE(one_case.name);
        SynthDef def = def_of(one_case, 2, false);
        const auto phase = int32_t(one_case.phase.size());
        def.units.back().inputs[1] = {phase, 0};
        const auto fine = refined_phases(def);
        REQUIRE(fine);
        for (const int voices : {1, 2}) {
            const auto with = play(*fine, one_case, buffer, voices), without = play(def, one_case, buffer, voices);
            CHECK(std::ranges::equal(with, without, [](float a, float b) {
                const bool on_other_side = std::abs(a - b) > (wrap_end - wrap_begin) / 2;
                return a == b || on_other_side;
            }));
        }
    }
}
