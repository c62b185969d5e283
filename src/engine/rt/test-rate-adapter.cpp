// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/rt/rate-adapter.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

using scs::RateAdapter;

namespace {

constexpr int block = 64;
struct Rates {
    int engine, graph;
};
constexpr Rates rates[] = {{44100, 48000}, {96000, 48000}, {48000, 44100}, {44100, 96000},
                           {22050, 48000}, {48000, 48001}, {8000, 192000}, {192000, 8000}};
/// Frames of the cycles, one after the other.
const std::vector<int> quanta = {1024, 16, 64, 441, 1, 8192, 100, 1024, 63, 2048};

/// An engine with one input and one output at `rate`; records how it was called.
class Rig {
public:
    Rig(int engine_rate, int graph_rate, int block_size = block)
        : adapter(block_size, 1, 1, 8192, engine_rate), size_(block_size), graph_rate_(graph_rate) {
        REQUIRE(adapter.set_graph_rate(graph_rate));
    }

    /// The engine's output sample number `frame`, from its input.
    std::function<float(int64_t frame, float input)> engine = [](int64_t, float input) { return input; };
    /// The graph's input sample number `frame`.
    std::function<float(int64_t frame)> feed;

    void run(const std::vector<int>& turns, size_t frames) {
        for (size_t i = 0; heard.size() < frames; ++i)
            cycle(turns[i % turns.size()]);
        ahead = double(begins.size()) * size_ * graph_rate_ / adapter.engine_rate() - double(heard.size());
        heard.resize(frames);
    }
    void cycle(int frames) {
        std::vector<float> in(size_t(frames), 0.f), out(in.size(), -1000);
        for (size_t i = 0; i < in.size(); ++i)
            in[i] = feed ? feed(int64_t(heard.size() + i)) : 0;
        const float* const inputs[] = {feed ? in.data() : nullptr};
        float* const outputs[] = {out.data()};
        const auto first = double(heard.size());
        adapter.process(frames, inputs, outputs, [&](double ahead, const float* const* from, float* const* to) {
            begins.push_back(first + ahead);
            for (int i = 0; i < size_; ++i)
                to[0][i] = engine(played_ + i, from[0][i]);
            played_ += size_;
        });
        heard.insert(heard.end(), out.begin(), out.end());
    }

    RateAdapter adapter;
    std::vector<float> heard;
    std::vector<double> begins; ///< where blocks begin, in the graph's frames
    double ahead = 0;           ///< at the end: what is rendered but not yet heard

private:
    int size_, graph_rate_;
    int64_t played_ = 0;
};

double sine(double hertz, double seconds) {
    return std::sin(2 * M_PI * hertz * seconds);
}

/// The part of `signal` from `first` on that isn't the sine, against the sine, in dB; `gain` receives what the sine
/// has become.
double noise_db(const std::vector<float>& signal, size_t first, double hertz, double rate, double* gain = nullptr) {
    double a = 0, b = 0, ss = 0, cc = 0, sc = 0;
    for (size_t i = first; i < signal.size(); ++i) {
        const double phase = 2 * M_PI * hertz * double(i) / rate, s = std::sin(phase), c = std::cos(phase);
        a += signal[i] * s, b += signal[i] * c, ss += s * s, cc += c * c, sc += s * c;
    }
    const double det = ss * cc - sc * sc, p = (a * cc - b * sc) / det, q = (b * ss - a * sc) / det;
    double rest = 0, whole = 0;
    for (size_t i = first; i < signal.size(); ++i) {
        const double phase = 2 * M_PI * hertz * double(i) / rate;
        const double wanted = p * std::sin(phase) + q * std::cos(phase);
        rest += (signal[i] - wanted) * (signal[i] - wanted);
        whole += wanted * wanted;
    }
    if (gain)
        *gain = std::hypot(p, q);
    return 10 * std::log10(rest / whole);
}

} // namespace

TEST_CASE("a sine of the engine is heard at its pitch and in its place, at any quantum") {
    for (const Rates& rate : rates) {
        CAPTURE(rate.engine);
        CAPTURE(rate.graph);
        Rig rig(rate.engine, rate.graph);
        rig.engine = [&](int64_t frame, float) { return float(sine(1000, double(frame) / rate.engine)); };
        rig.run(quanta, 20000);
        // After the beginning, where the sine jumps out of silence.
        const size_t first = size_t(100. * rate.graph / std::min(rate.engine, rate.graph));
        double worst = 0;
        for (size_t i = first; i < rig.heard.size(); ++i)
            worst = std::max(worst, std::abs(rig.heard[i] - sine(1000, double(i) / rate.graph)));
        CHECK(worst < 2e-5);
        CHECK(noise_db(rig.heard, first, 1000, rate.graph) < -100);
    }
}

TEST_CASE("the same bits at any quantum") {
    for (const Rates& rate : rates) {
        CAPTURE(rate.engine);
        CAPTURE(rate.graph);
        const auto heard = [&](const std::vector<int>& turns) {
            Rig rig(rate.engine, rate.graph);
            rig.engine = [&](int64_t frame, float input) {
                return input + float(sine(440, double(frame) / rate.engine));
            };
            rig.feed = [&](int64_t frame) { return float(sine(100, double(frame) / rate.graph)); };
            rig.run(turns, 12000);
            return rig.heard;
        };
        const std::vector<float> reference = heard({1024});
        CHECK(heard(quanta) == reference);
        CHECK(heard({16}) == reference);
        CHECK(heard({441, 8192, 1}) == reference);
    }
}

TEST_CASE("input comes out after the delay that is told") {
    for (const int block_size : {1, 64, 100, 1024})
        for (const Rates& rate : rates) {
            CAPTURE(rate.engine);
            CAPTURE(rate.graph);
            CAPTURE(block_size);
            Rig rig(rate.engine, rate.graph, block_size);
            // Slow enough for either rate; begins softly, within 50 ms.
            const auto tone = [&](double frame) {
                const double seconds = std::max(0., frame / rate.graph);
                const double fade = std::sin(M_PI / 2 * std::min(1., seconds / 0.05));
                return sine(300, seconds) * fade * fade;
            };
            rig.feed = [&](int64_t frame) { return float(tone(double(frame))); };
            rig.run(quanta, 16000);
            double worst = 0;
            for (size_t i = 0; i < rig.heard.size(); ++i)
                worst = std::max(worst, std::abs(rig.heard[i] - tone(double(i) - rig.adapter.delay())));
            CHECK(worst < 3e-5);
        }
}

TEST_CASE("the delay isn't longer than filters and block need") {
    RateAdapter adapter(block, 2, 2, 8192, 44100);
    REQUIRE(adapter.set_graph_rate(48000));
    CHECK(adapter.delay() > 2 * 46 + block);
    CHECK(adapter.delay() < 2 * 60 + block);
}

TEST_CASE("a block is told when it is heard, and no more are run than needed") {
    for (const Rates& rate : rates) {
        CAPTURE(rate.engine);
        CAPTURE(rate.graph);
        Rig rig(rate.engine, rate.graph);
        rig.run(quanta, 20000);
        const double step = block * double(rate.graph) / rate.engine;
        double worst = 0;
        for (size_t i = 0; i < rig.begins.size(); ++i)
            worst = std::max(worst, std::abs(rig.begins[i] - double(i) * step));
        CHECK(worst < 1e-6);
        // Far enough ahead for the filter, but less than a block more.
        CHECK(rig.ahead > 0);
        CHECK(rig.ahead < rig.adapter.delay());
    }
}

TEST_CASE("an impulse is heard in its place") {
    for (const Rates& rate : rates) {
        CAPTURE(rate.engine);
        CAPTURE(rate.graph);
        Rig rig(rate.engine, rate.graph);
        const int64_t place = rate.engine / 10 + 7;
        rig.engine = [&](int64_t frame, float) { return frame == place ? 1.f : 0.f; };
        rig.run(quanta, size_t(rate.graph) / 5);
        double sum = 0, moment = 0;
        for (size_t i = 0; i < rig.heard.size(); ++i)
            sum += rig.heard[i], moment += rig.heard[i] * double(i);
        CHECK(moment / sum == doctest::Approx(double(place) * rate.graph / rate.engine).epsilon(1e-6));
    }
}

TEST_CASE("flat where it is heard, nothing mirrored") {
    const auto level = [](const Rates& rate, double hertz, double* noise) {
        Rig rig(rate.engine, rate.graph);
        rig.engine = [&](int64_t frame, float) { return float(sine(hertz, double(frame) / rate.engine)); };
        rig.run({1024}, 12000);
        double gain = 0;
        *noise = noise_db(rig.heard, 1000, hertz, rate.graph, &gain);
        return 20 * std::log10(gain);
    };
    double noise = 0;
    for (const Rates& rate : {Rates{44100, 48000}, Rates{48000, 44100}, Rates{96000, 48000}})
        for (const double hertz : {20., 1000., 10000., 15000., 18000.}) {
            CAPTURE(rate.engine);
            CAPTURE(hertz);
            CHECK(std::abs(level(rate, hertz, &noise)) < 0.5);
            CHECK(noise < -90);
        }
    // Above what the graph has room for.
    Rig rig(96000, 48000);
    rig.engine = [](int64_t frame, float) { return float(sine(30000, double(frame) / 96000)); };
    rig.run({1024}, 40000);
    float loudest = 0;
    for (size_t i = 1000; i < rig.heard.size(); ++i)
        loudest = std::max(loudest, std::abs(rig.heard[i]));
    CHECK(20 * std::log10(loudest) < -90);
}

TEST_CASE("another rate of the graph begins anew") {
    RateAdapter adapter(block, 1, 1, 8192, 44100);
    const auto first_block = [&](double rate) {
        REQUIRE(adapter.set_graph_rate(rate));
        std::vector<float> samples(1000, 1);
        const float* const in[] = {samples.data()};
        std::vector<float> result(1000);
        float* const out[] = {result.data()};
        std::vector<double> begins;
        adapter.process(1000, in, out, [&](double ahead, const float* const*, float* const* to) {
            begins.push_back(ahead);
            std::fill_n(to[0], block, 0.5f);
        });
        CHECK(result[500] == doctest::Approx(0.5).epsilon(1e-3));
        return begins.front();
    };
    CHECK(first_block(48000) == 0);
    CHECK(first_block(48000) > 0);
    CHECK(first_block(96000) == 0);
    CHECK(first_block(48000) == 0);
    adapter.reset();
    CHECK(first_block(48000) == 0);
}

TEST_CASE("what is too far or no whole number is refused") {
    RateAdapter adapter(block, 1, 1, 8192, 48000);
    REQUIRE(adapter.set_graph_rate(44100));
    const int delay = adapter.delay();
    for (const double rate : {0., -48000., 48000 * 32. + 1, 1499., 44100.5, 1e300, std::nan(""), HUGE_VAL}) {
        CAPTURE(rate);
        CHECK_FALSE(adapter.set_graph_rate(rate));
    }
    CHECK(adapter.delay() == delay);
    CHECK(adapter.set_graph_rate(48000 * 32.));
    CHECK(adapter.set_graph_rate(1500));
}

TEST_CASE("with no ports, blocks are run all the same") {
    RateAdapter adapter(block, 0, 0, 8192, 44100);
    REQUIRE(adapter.set_graph_rate(48000));
    int blocks = 0;
    for (int i = 0; i < 100; ++i)
        adapter.process(480, nullptr, nullptr, [&](double, const float* const*, float* const*) { ++blocks; });
    CHECK(blocks >= 44100 / block);
    CHECK(blocks <= 44100 / block + 3);
}

TEST_CASE("ports that aren't linked") {
    RateAdapter adapter(block, 2, 2, 8192, 44100);
    REQUIRE(adapter.set_graph_rate(48000));
    std::vector<float> samples(480, 1), result(480);
    const float* const in[] = {nullptr, samples.data()};
    float* const out[] = {nullptr, result.data()};
    float first = 0, second = 0;
    for (int i = 0; i < 10; ++i)
        adapter.process(480, in, out, [&](double, const float* const* from, float* const* to) {
            CHECK(to[0] == nullptr);
            REQUIRE(to[1] != nullptr);
            std::fill_n(to[1], block, 0.25f);
            first = from[0][0], second = from[1][0];
        });
    CHECK(first == 0);
    CHECK(second == doctest::Approx(1).epsilon(1e-3));
    CHECK(result[240] == doctest::Approx(0.25).epsilon(1e-3));
}

TEST_CASE("the longest cycles, and rates as far apart as may be") {
    const int longest = 65536;
    std::vector<float> ones(longest, 1), result(longest);
    for (const Rates& rate : {Rates{44100, 48000}, Rates{1500, 48000}, Rates{48000, 1500}})
        for (const int block_size : {64, 1024}) {
            CAPTURE(rate.engine);
            CAPTURE(rate.graph);
            CAPTURE(block_size);
            RateAdapter adapter(block_size, 1, 1, longest, rate.engine);
            REQUIRE(adapter.set_graph_rate(rate.graph));
            // The filters ring around the step from silence to ones.
            const int64_t ringing = 200 * std::max(1, rate.graph / rate.engine);
            int64_t heard = 0;
            int wrong = 0;
            for (const int frames : {longest, 1, longest, 16, 30000}) {
                const float* const in[] = {ones.data()};
                float* const out[] = {result.data()};
                adapter.process(frames, in, out, [&](double, const float* const* from, float* const* to) {
                    std::copy_n(from[0], block_size, to[0]);
                });
                for (int i = 0; i < frames; ++i, ++heard)
                    if (std::abs(heard - adapter.delay()) > ringing)
                        wrong += std::abs(result[size_t(i)] - (heard < adapter.delay() ? 0 : 1)) > 1e-3;
            }
            CHECK(wrong == 0);
        }
}
