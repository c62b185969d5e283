// SPDX-License-Identifier: GPL-3.0-or-later
// An engine whose rate isn't the graph's: resampled at the node's edge. Its clocks are the test's.
#include "playing.hpp"
#include "scripted-cycles.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>

using namespace scs::test;

namespace {

struct Rates {
    uint32_t engine, graph;
};
constexpr Rates rates[] = {{44100, 48000}, {96000, 48000}, {48000, 44100}};
const std::vector<uint32_t> quanta = {1024, 16, 64, 441, 1, 8192, 100, 1024, 63};

Host::Dict at(uint32_t rate) {
    return {{"scsynth.sample-rate", std::to_string(rate)}};
}

double tone(double hertz, double frame, double rate) {
    return std::sin(2 * M_PI * hertz * frame / rate);
}

/// Records a sine of 1000 Hz that begins with the first cycle.
std::vector<float> sine_heard(const Host::Dict& info, uint32_t graph_rate, const std::vector<uint32_t>& turns,
                              size_t frames) {
    Host host(library());
    host.position().clock.rate = {1, graph_rate};
    Playing p(host, info);
    p.define("sine", sine(1000));
    p.node->link(out, 1);
    p.node->link(out, 0);
    p.play("sine", 1000);
    p.node->start();
    for (size_t i = 0; p.node->output(0).size() < frames; ++i)
        CHECK(host.cycle(turns[i % turns.size()]) == both);
    CHECK(*std::max_element(p.node->output(1).begin(), p.node->output(1).end()) == 0);
    p.node->output(0).resize(frames);
    return p.node->output(0);
}

/// The largest difference of the sound, from `first` to `end`, from the best-fitting sine of that frequency.
double distance_from_sine(const std::vector<float>& sound, size_t first, size_t end, double hertz, double rate) {
    double a = 0, b = 0;
    for (size_t i = first; i < end; ++i)
        a += sound[i] * tone(hertz, double(i), rate), b += sound[i] * tone(hertz, double(i) + rate / hertz / 4, rate);
    a *= 2. / double(end - first), b *= 2. / double(end - first);
    double worst = 0;
    for (size_t i = first; i < end; ++i)
        worst = std::max(worst, std::abs(sound[i] - a * tone(hertz, double(i), rate) -
                                         b * tone(hertz, double(i) + rate / hertz / 4, rate)));
    return worst;
}

/// The centre of a click around the frame `near`.
double centre(const std::vector<float>& sound, double near) {
    double sum = 0, moment = 0;
    for (auto i = size_t(near - 150); i < size_t(near + 150); ++i)
        sum += sound[i], moment += sound[i] * double(i);
    return moment / sum;
}

} // namespace

TEST_CASE("a sine is heard at its pitch, in its place and whole, at any quantum") {
    for (const Rates& rate : rates) {
        CAPTURE(rate.engine);
        CAPTURE(rate.graph);
        const std::vector<float> sound = sine_heard(at(rate.engine), rate.graph, quanta, 48000);
        double worst = 0;
        for (size_t i = 300; i < sound.size(); ++i)
            worst = std::max(worst, std::abs(sound[i] - tone(1000, double(i), rate.graph)));
        CHECK(worst < 1e-3);
        CHECK(sine_heard(at(rate.engine), rate.graph, {256}, 48000) == sound);
    }
}

TEST_CASE("a graph that has taken the rate: the same bits as without") {
    CHECK(sine_heard(at(44100), 44100, quanta, 20000) == sine_heard({{"scsynth.rate", "44100"}}, 44100, quanta, 20000));
}

TEST_CASE("inputs are delayed by what is reported") {
    for (const Rates& rate : rates)
        for (const char* block : {"64", "256"}) {
            CAPTURE(rate.engine);
            CAPTURE(rate.graph);
            CAPTURE(block);
            Host host(library());
            host.position().clock.rate = {1, rate.graph};
            Playing p(host, {{"scsynth.sample-rate", std::to_string(rate.engine)}, {"scsynth.block-size", block}});
            p.define("through", through);
            p.play("through", 1000);
            p.node->link(in, 0);
            p.node->link(out, 0);
            const auto fed = [&](double frame) {
                const double fade = std::sin(M_PI / 2 * std::clamp(frame / 2400, 0., 1.));
                return tone(300, frame, rate.graph) * fade * fade;
            };
            p.node->feed = [&](uint32_t, uint64_t position, float* samples, uint32_t frames) {
                for (uint32_t i = 0; i < frames; ++i)
                    samples[i] = float(fed(double(position + i)));
            };
            p.node->start();
            for (const uint32_t quantum : quanta)
                host.cycle(quantum);
            host.main().expire_timers();
            const uint32_t delay = p.node->latency(out, 0, out).max_rate;
            CHECK(delay > 100);
            CHECK(p.node->latency(out, 0, out).min_rate == delay);
            CHECK(p.node->latency(in, 0, in).max_rate == delay);
            const std::vector<float>& sound = p.node->output(0);
            double worst = 0;
            for (size_t i = 0; i < sound.size(); ++i)
                worst = std::max(worst, std::abs(sound[i] - fed(double(i) - delay)));
            CHECK(worst < 1e-4);
        }
}

TEST_CASE("a bundle is heard at its time") {
    for (const Rates& rate : rates)
        for (const auto& turns : {quanta, std::vector<uint32_t>{16}, std::vector<uint32_t>{1024}}) {
            CAPTURE(rate.engine);
            CAPTURE(rate.graph);
            CAPTURE(turns[0]);
            Host host(library());
            host.position().clock.rate = {1, rate.graph};
            Playing p(host, at(rate.engine));
            p.define("click", click);
            p.node->link(out, 0);
            const ScriptedCycles clock(host);
            p.node->start();
            host.cycle(turns[0]); // the engine's time is known from here on
            // Clicks due on a frame of the engine, and between two frames, which may be half a frame off.
            const std::vector<std::pair<double, double>> due = {
                {9000, 0.02}, {11001, 0.02}, {13063, 0.02}, {15064.4, 0.52}, {17000.6, 0.52}};
            int id = 2000;
            for (const auto& [frame, tolerance] : due)
                p.client->send(osc_bundle(tag(frame, rate.engine), {osc_message("/s_new", {"click", id++, 0, 0})}));
            REQUIRE(p.client->sync());
            for (size_t i = 1; p.node->output(0).size() < 22000 * rate.graph / rate.engine; ++i)
                host.cycle(turns[i % turns.size()]);
            for (const auto& [frame, tolerance] : due) {
                const double heard = frame * rate.graph / rate.engine;
                CHECK(std::abs(centre(p.node->output(0), heard) - heard) < tolerance * rate.graph / rate.engine);
            }
            host.main().expire_timers();
            CHECK(p.node->properties["scsynth.late"] == "0");
        }
}

TEST_CASE("a rate that changes while it plays") {
    Host host(library());
    Playing p(host, at(44100));
    p.define("sine", sine(1000));
    p.node->link(out, 0);
    p.play("sine", 1000);
    p.node->start();
    CHECK(p.node->properties["scsynth.resampling"] == "no");
    const std::pair<uint32_t, std::string> steps[] = {
        {48000, "engine at 44100 Hz in a graph of 48000 Hz: resampled, adds "},
        {96000, "engine at 44100 Hz in a graph of 96000 Hz: resampled, adds "},
        {44100, "no"},
        {96000, "engine at 44100 Hz in a graph of 96000 Hz: resampled, adds "},
    };
    std::vector<float>& sound = p.node->output(0);
    size_t changes = 0;
    for (const auto& step : steps) {
        const auto& [rate, said] = step;
        CAPTURE(step.first);
        host.position().clock.rate = {1, rate};
        const size_t begun = sound.size();
        host.cycles(100, 256);
        CHECK(distance_from_sine(sound, begun + 400, sound.size(), 1000, rate) < 2e-3);
        host.main().expire_timers();
        const std::string delay = std::to_string(p.node->latency(out, 0, out).max_rate);
        const std::string told = p.node->properties["scsynth.resampling"];
        CHECK(told.starts_with(said == "no" ? said : said + delay + " frames ("));
        CHECK((delay == "0") == (said == "no"));
        host.main().expire_timers();
        const std::string log = host.log().all();
        CHECK(log.find(told == "no" ? "not resampled any more" : told) != log.npos);
        size_t mentions = 0;
        for (size_t at = log.find("resampled"); at != log.npos; at = log.find("resampled", at + 1))
            ++mentions;
        CHECK(mentions == ++changes);
    }
}

namespace {

/// The rate that /b_query gives for buffer 0.
float buffer_rate(Playing& p) {
    p.client->send(osc_message("/b_query", {0}));
    int32_t bits = 0;
    CHECK(p.client->receive(5000, &bits) == "/b_info");
    return std::bit_cast<float>(bits);
}

} // namespace

TEST_CASE("a new buffer has the graph's rate, also before the first cycle") {
    Host host(library());
    host.position().clock.rate = {1, 44100};
    Playing p(host, {{"scsynth.rate", "48000"}});
    p.client->send(osc_message("/b_alloc", {0, 64}));
    CHECK(p.client->receive() == "/done");
    CHECK(buffer_rate(p) == 44100);
    p.node->start();
    host.position().clock.rate = {1, 96000};
    host.cycle(64);
    p.node->pause();
    p.client->send(osc_message("/b_alloc", {0, 64}));
    CHECK(p.client->receive() == "/done");
    CHECK(buffer_rate(p) == 96000);
}

TEST_CASE("a rate that is kept") {
    const Host::Dict keep = {{"scsynth.keep-rate", "true"}, {"scsynth.rate", "48000"}};
    SUBCASE("until there is a synth, the graph's is followed") {
        Host host(library());
        Playing p(host, keep);
        p.define("sine", sine(1000));
        p.node->link(out, 0);
        p.node->start();
        for (const uint32_t rate : {96000u, 48000u, 44100u}) {
            host.position().clock.rate = {1, rate};
            host.cycles(3, 256);
        }
        p.client->send(osc_message("/s_new", {"sine", 1000, 0, 0}));
        REQUIRE(p.settle(256).size() == 0);
        host.main().expire_timers();
        CHECK(p.node->properties["scsynth.resampling"] == "no");
        std::vector<float>& sound = p.node->output(0);
        for (const uint32_t rate : {44100u, 48000u, 96000u, 44100u}) {
            CAPTURE(rate);
            host.position().clock.rate = {1, rate};
            const size_t begun = sound.size();
            host.cycles(100, 256);
            CHECK(distance_from_sine(sound, begun + 400, sound.size(), 1000, rate) < 2e-3);
            host.main().expire_timers();
            const std::string told = p.node->properties["scsynth.resampling"];
            if (rate == 44100)
                CHECK(told == "no");
            else
                CHECK(told.starts_with("engine at 44100 Hz in a graph of " + std::to_string(rate) + " Hz: resampled"));
        }
        CHECK(host.log().all().find("stay as they were") == std::string::npos);
    }
    SUBCASE("a buffer is enough") {
        Host host(library());
        Playing p(host, keep);
        p.node->start();
        host.position().clock.rate = {1, 44100};
        host.cycle(256);
        p.client->send(osc_message("/b_alloc", {0, 64}));
        (void)p.settle();
        host.position().clock.rate = {1, 48000};
        host.cycles(10, 256);
        p.client->send(osc_message("/b_alloc", {0, 64}));
        (void)p.settle();
        p.node->pause();
        CHECK(buffer_rate(p) == 44100);
    }
    SUBCASE("a rate that is too high for that many ports is not, which is said") {
        Host host(library());
        Playing p(host, {{"scsynth.keep-rate", "true"}, {"scsynth.inputs", "128"}, {"scsynth.outputs", "128"}});
        p.node->start();
        host.position().clock.rate = {1, 96000};
        host.cycle(256);
        host.main().expire_timers();
        CHECK(p.node->properties["scsynth.resampling"] == "no");
        p.client->send(osc_message("/b_alloc", {0, 64}));
        (void)p.settle();
        host.cycle(256);
        host.main().expire_timers();
        CHECK(p.node->properties["scsynth.resampling"] ==
              "engine follows the graph's 96000 Hz: with 256 inputs and outputs at most 48000 Hz can be kept");
        host.main().expire_timers();
        const std::string log = host.log().all();
        const size_t said = log.find("48000 Hz can be kept");
        CHECK(said != log.npos);
        CHECK(log.find("48000 Hz can be kept", said + 1) == log.npos);
    }
    SUBCASE("nothing is kept without it") {
        Host host(library());
        Playing p(host, {{"scsynth.rate", "48000"}});
        p.define("sine", sine(1000));
        p.play("sine", 1000);
        p.node->start();
        host.cycles(3, 256);
        host.position().clock.rate = {1, 44100};
        host.cycles(3, 256);
        p.client->send(osc_message("/b_alloc", {0, 64}));
        (void)p.settle();
        p.node->pause();
        CHECK(buffer_rate(p) == 44100);
        CHECK(p.node->properties.count("scsynth.resampling") == 0);
    }
}
