// SPDX-License-Identifier: GPL-3.0-or-later
// Changes of rate: what passes, what doesn't, and how late it is.
#include "engine/rt/half-band.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <complex>
#include <random>
#include <vector>

using namespace scs;

namespace {

constexpr double pi = 3.14159265358979323846;

struct Made {
    Made(int factor, int samples) : memory(HalfBand::bytes(factor, samples) / sizeof(float)) {
        filter.begin(factor, samples, memory.data());
    }
    std::vector<float> memory;
    HalfBand filter;
};

std::vector<float> lowered(const std::vector<float>& in, int factor, int block) {
    Made made(factor, block);
    std::vector<float> out, piece;
    for (size_t i = 0; i < in.size(); i += size_t(block)) {
        piece.assign(in.begin() + long(i), in.begin() + long(i) + block);
        const int count = made.filter.lower(piece.data(), block, piece.data());
        out.insert(out.end(), piece.begin(), piece.begin() + count);
    }
    return out;
}

std::vector<float> raised(const std::vector<float>& in, int factor, int block) {
    Made made(factor, block * factor);
    std::vector<float> out, piece;
    for (size_t i = 0; i < in.size(); i += size_t(block)) {
        piece.assign(in.begin() + long(i), in.begin() + long(i) + block);
        piece.resize(size_t(block * factor));
        made.filter.raise(piece.data(), block);
        out.insert(out.end(), piece.begin(), piece.end());
    }
    return out;
}

std::vector<float> impulse(size_t samples) {
    std::vector<float> in(samples, 0.f);
    in[0] = 1.f;
    return in;
}

/// The gain at a frequency, in cycles a sample, of a response to an impulse.
double gain(const std::vector<float>& response, double frequency) {
    std::complex<double> sum;
    for (size_t i = 0; i < response.size(); ++i)
        sum += double(response[i]) * std::polar(1., -2 * pi * frequency * double(i));
    return std::abs(sum);
}

double dB(double ratio) {
    return 20 * std::log10(ratio);
}

constexpr double pass = 5. / 12; ///< of the lower rate: 20 kHz of 48 kHz

} // namespace

TEST_CASE("raising a rate keeps what is in the passband, and gives nothing above the stopband's edge") {
    for (int factor = 2; factor <= 16; factor *= 2) {
        CAPTURE(factor);
        const auto response = raised(impulse(256), factor, 64);
        double least = 1e9, most = 0, above = 0;
        for (int i = 0; i <= 1000; ++i) {
            const double passed = gain(response, pass * i / 1000 / factor) / factor;
            least = std::min(least, passed);
            most = std::max(most, passed);
            const double stop = (1 - pass) / factor;
            above = std::max(above, gain(response, stop + (0.5 - stop) * i / 1000) / factor);
        }
        MESSAGE("factor ", factor, ": passband ", dB(least), " to ", dB(most), " dB, stopband ", dB(above), " dB");
        CHECK(dB(least) > -0.0003);
        CHECK(dB(most) < 0.0003);
        CHECK(dB(above) < -100);
        CHECK(dB(gain(response, 0.5 / factor) / factor) == doctest::Approx(-6.02).epsilon(0.001));
    }
}

TEST_CASE("lowering a rate leaves nothing of what would be heard in the passband") {
    for (int factor = 2; factor <= 16; factor *= 2) {
        CAPTURE(factor);
        const size_t count = 4096;
        double most = -1e9;
        for (int i = 0; i < 60; ++i) {
            // Up to half of the higher rate, but for what folds to above the passband.
            const double frequency = (1 - pass + (factor / 2. - 1 + pass) * i / 59.99) / factor;
            const double folded = std::abs(std::remainder(frequency * factor, 1.));
            if (folded > pass)
                continue;
            std::vector<float> in(count * size_t(factor));
            for (size_t k = 0; k < in.size(); ++k)
                in[k] = float(std::sin(2 * pi * std::fmod(frequency * double(k), 1.)));
            const auto out = lowered(in, factor, 64);
            float peak = 0;
            for (size_t k = 100; k < out.size(); ++k)
                peak = std::max(peak, std::abs(out[k]));
            most = std::max(most, dB(double(peak)));
        }
        MESSAGE("factor ", factor, ": ", most, " dB");
        CHECK(most < -100);
    }
}

TEST_CASE("the delay is whole frames of the lower rate, the same in both directions") {
    for (int factor = 1; factor <= 16; factor *= 2) {
        CAPTURE(factor);
        const size_t delay = size_t(half_band_delay(factor));
        const size_t count = 1024;
        std::vector<float> slow(count), fast(count * size_t(factor));
        for (size_t i = 0; i < fast.size(); ++i)
            fast[i] = float(std::sin(0.3 * double(i) / factor));
        for (size_t i = 0; i < count; ++i)
            slow[i] = fast[i * size_t(factor)];
        const auto down = lowered(fast, factor, 64);
        REQUIRE(down.size() == count);
        const auto up = raised(slow, factor, 64);
        float worst = 0;
        for (size_t i = 200; i < count; ++i)
            worst = std::max(worst, std::abs(down[i] - slow[i - delay]));
        for (size_t i = 200 * size_t(factor); i < up.size(); ++i)
            worst = std::max(worst, std::abs(up[i] - fast[i - delay * size_t(factor)]));
        CHECK(worst < 2e-5f);
    }
}

TEST_CASE("pieces of any power of two give the same") {
    std::mt19937 random(7);
    std::uniform_real_distribution<float> noise(-1, 1);
    for (int factor = 2; factor <= 16; factor *= 2) {
        CAPTURE(factor);
        std::vector<float> in(2048);
        for (float& each : in)
            each = noise(random);
        const auto whole = lowered(in, factor, 64), whole_up = raised(in, factor, 64);
        for (int block = 1; block <= 1024; block *= 2) {
            CAPTURE(block);
            const auto down = lowered(in, factor, block), up = raised(in, factor, block);
            REQUIRE(down.size() == whole.size());
            float worst = 0;
            for (size_t i = 0; i < down.size(); ++i)
                worst = std::max(worst, std::abs(down[i] - whole[i]));
            for (size_t i = 0; i < up.size(); ++i)
                worst = std::max(worst, std::abs(up[i] - whole_up[i]));
            CHECK(worst < 1e-6f);
        }
    }
}
