// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/rt/reblock.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

using namespace scs;

constexpr int max_quantum = 8192;

namespace {

// The caller's side with one input and one output. The input carries its own frame's number plus 1; the engine writes
// its input plus 1/2, so that silence differs from output that nobody wrote.
struct Rig {
    explicit Rig(int block) : block(block), reblocker(block, 1, 1, max_quantum) {}

    // Runs a cycle and returns what came out.
    std::vector<float> cycle(int quantum, bool in_linked = true, bool out_linked = true) {
        in.resize(size_t(quantum));
        std::iota(in.begin(), in.end(), float(time + 1));
        std::vector<float> out(in.size(), std::numeric_limits<float>::quiet_NaN());
        const float* in_pointer = in_linked ? in.data() : nullptr;
        float* out_pointer = out_linked ? out.data() : nullptr;
        int expected_frame = int(produced - time);
        reblocker.process(quantum, &in_pointer, &out_pointer, [&](int frame, const float* const* i, float* const* o) {
            CHECK(frame == expected_frame);
            CHECK(frame >= 0);
            CHECK(frame < quantum);
            expected_frame += block;
            produced += block;
            saw_input = i[0] != nullptr;
            straight = i[0] == in.data() + frame && o[0] == out.data() + frame;
            for (int n = 0; n < block && o[0] != nullptr; ++n) {
                o[0][n] = (i[0] != nullptr ? i[0][n] : 0.0f) + 0.5f;
            }
        });
        time += quantum;
        CHECK(produced >= time);
        CHECK(produced < time + block);
        return out;
    }

    int block;
    Reblocker reblocker;
    std::vector<float> in;
    int64_t time = 0;       // frames of all cycles
    int64_t produced = 0;   // frames of all blocks
    bool saw_input = false; // of the last block
    bool straight = false;  // of the last block
};

// Found by trial: the most input that a cycle's last block lacks if cycles of `quantum` continue with `ahead`.
int least_delay(int block, int quantum, int ahead) {
    int delay = 0;
    for (int i = 0; i < block; ++i) {
        while (ahead < quantum) {
            ahead += block;
        }
        ahead -= quantum;
        delay = std::max(delay, ahead);
    }
    return delay;
}

} // namespace

TEST_CASE("an even quantum delays by block - gcd, and whole blocks not at all") {
    for (const int block : {64, 1, 48}) {
        for (const int quantum : {16, 64, 100, 441, 1024, 8192}) {
            CAPTURE(block);
            CAPTURE(quantum);
            Rig rig(block);
            int wrong = 0;
            for (int64_t t = 0; t < 20'000;) {
                const auto out = rig.cycle(quantum);
                const int delay = rig.reblocker.input_delay();
                REQUIRE(delay == block - std::gcd(block, quantum));
                for (const float sample : out) {
                    const auto input = float(std::max<int64_t>(t - delay + 1, 0));
                    wrong += sample != input + 0.5f;
                    ++t;
                }
                if (quantum % block == 0) {
                    CHECK(rig.straight);
                }
            }
            CHECK(wrong == 0);
        }
    }
}

TEST_CASE("output is gapless and input in order with the least delay after each change") {
    std::mt19937 random(17);
    for (const int block : {64, 1, 48}) {
        CAPTURE(block);
        Rig rig(block);
        int64_t taken = 0;           // input before this was taken or replaced by silence
        std::vector<float> expected; // by time, from the cycle's start on
        int last_quantum = 0;
        int delay = 0;
        int wrong = 0;
        for (int run = 0; run < 600; ++run) {
            const std::array usual{16, 32, 64, 100, 128, 441, 480, 1024};
            const int quantum = random() % 2 == 0 ? usual[random() % usual.size()] : int(1 + random() % 700);
            const int cycles = int(1 + random() % 5);
            for (int i = 0; i < cycles; ++i) {
                const int64_t start = rig.time;
                const auto ahead = int(rig.produced - start);
                if (quantum != last_quantum) {
                    taken = std::max(taken, start + ahead - delay);
                    delay = least_delay(block, quantum, ahead);
                    last_quantum = quantum;
                }
                const auto out = rig.cycle(quantum);
                REQUIRE(rig.reblocker.input_delay() == delay);
                for (int64_t t = start + ahead; t < rig.produced; ++t) {
                    const int64_t input = t - delay;
                    expected.push_back((input >= taken ? float(input + 1) : 0.0f) + 0.5f);
                }
                for (size_t n = 0; n < out.size(); ++n) {
                    wrong += out[n] != expected[n];
                }
                expected.erase(expected.begin(), expected.begin() + quantum);
            }
        }
        CHECK(wrong == 0);
    }
}

TEST_CASE("a running counter comes out gapless for any sequence of quanta") {
    std::mt19937 random(19);
    Reblocker reblocker(64, 0, 1, max_quantum);
    float counter = 0;
    float expected = 0;
    int wrong = 0;
    std::vector<float> out(max_quantum);
    for (int i = 0; i < 3'000; ++i) {
        const int quantum = int(16 + random() % (i % 20 == 0 ? 8177 : 200));
        float* pointer = out.data();
        reblocker.process(quantum, nullptr, &pointer, [&](int, const float* const*, float* const* o) {
            std::iota(o[0], o[0] + 64, counter);
            counter += 64;
        });
        for (int n = 0; n < quantum; ++n) {
            wrong += out[size_t(n)] != expected++;
        }
    }
    CHECK(expected < 0x1p24f);
    CHECK(wrong == 0);
}

TEST_CASE("ports may be linked and unlinked at any cycle") {
    std::mt19937 random(23);
    for (const int steady : {16, 48, 64, 100, 441, 0}) {
        CAPTURE(steady);
        Rig rig(64);
        std::vector<float> input;    // by time, with zeros for unlinked cycles
        std::vector<float> expected; // by time, with zeros for blocks whose output was unlinked
        bool in_linked = true;
        bool out_linked = true;
        int wrong = 0;
        int last_quantum = 0;
        int delay = 0;
        int64_t taken = 0;
        for (int i = 0; i < 3'000; ++i) {
            in_linked ^= random() % 5 == 0;
            out_linked ^= random() % 5 == 0;
            const int quantum = steady != 0 ? steady : int(1 + random() % 200);
            const int64_t start = rig.time;
            const int64_t ready = rig.produced;
            if (quantum != last_quantum) {
                taken = std::max(taken, ready - delay);
                delay = least_delay(64, quantum, int(ready - start));
                last_quantum = quantum;
            }
            const auto out = rig.cycle(quantum, in_linked, out_linked);
            for (int64_t t = start; t < rig.time; ++t) {
                input.push_back(in_linked ? float(t + 1) : 0.0f);
            }
            for (int64_t t = ready; t < rig.produced; ++t) {
                const int64_t from = t - delay;
                const float heard = from >= taken ? input[size_t(from)] : 0.0f;
                expected.push_back(out_linked ? heard + 0.5f : 0.0f);
            }
            for (size_t n = 0; n < out.size() && out_linked; ++n) {
                wrong += out[n] != expected[size_t(start) + n];
            }
        }
        CHECK(wrong == 0);
    }
}

TEST_CASE("an input that stays unlinked is not handed out") {
    Rig rig(64);
    rig.cycle(100);
    CHECK(rig.saw_input);
    rig.cycle(100, false);
    rig.cycle(100, false);
    CHECK_FALSE(rig.saw_input);
    rig.cycle(441, false);
    CHECK_FALSE(rig.saw_input);
    rig.cycle(441);
    CHECK(rig.saw_input);
}

TEST_CASE("reset makes it as new") {
    Rig rig(64);
    rig.cycle(100);
    rig.cycle(30);
    CHECK(rig.reblocker.input_delay() == 62);
    rig.reblocker.reset();
    CHECK(rig.reblocker.input_delay() == 0);
    rig.produced = rig.time;
    const auto first = float(rig.time + 1);
    const auto out = rig.cycle(100);
    CHECK(rig.reblocker.input_delay() == 60);
    for (size_t n = 0; n < 100; ++n) {
        CHECK(out[n] == (n < 60 ? 0.5f : first + float(n - 60) + 0.5f));
    }
}

TEST_CASE("a quantum out of range is cut to the caller's buffers") {
    Reblocker reblocker(64, 0, 0, 128);
    int blocks = 0;
    const auto count = [&](int, const float* const*, float* const*) { ++blocks; };
    reblocker.process(0, nullptr, nullptr, count);
    reblocker.process(-5, nullptr, nullptr, count);
    CHECK(blocks == 0);
    reblocker.process(100'000, nullptr, nullptr, count);
    CHECK(blocks == 2);
}
