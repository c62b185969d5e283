// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "test-support.hpp"

#include <algorithm>
#include <doctest/doctest.h>
#include <string>
#include <vector>

// What tests of cycles that have no time for everything share.
namespace scs::test {

inline constexpr int64_t cycle_nsec = 1'333'333; // 64 frames

/// An engine whose clock is the test's.
struct Timed : Fixture {
    explicit Timed(Settings settings = {}) : Fixture(settings) {
        engine->set_clock({[](void* self) { return static_cast<Timed*>(self)->look(); }, this});
        sine = define(sine_def());
    }
    int64_t look() noexcept {
        ++looks;
        return now += each_look;
    }
    /// A cycle of 64 frames that may take `limit` ns. Returns output 0.
    std::vector<float> cycle(int64_t limit = cycle_nsec, bool renders = true,
                             std::span<const ControlEvent> events = {}) {
        std::vector<float> left(64, 9.f), right(64, 9.f);
        float* const out[] = {left.data(), right.data()};
        const float* const in[] = {nullptr, nullptr};
        engine->process(64, ntp_advance(start, position, 48000), 48000, in, out, {now + limit, renders}, events);
        position += 64;
        pump();
        return left;
    }
    /// Synths 1000 and so on at the end of a group.
    void fill(int32_t group, int count, int32_t first = 1000) {
        Synth* made = nullptr;
        for (int i = 0; i < count; ++i)
            REQUIRE(engine->tree().new_synth(*sine, nullptr, first + i, AddAction::tail, group, made).ok());
    }
    /// A bundle of commands of which each takes `cost` ns and adds a letter to `order`.
    CommandBundle* slow(const char* letters, int64_t cost, NtpTime time = immediately) {
        auto* bundle = new CommandBundle;
        bundle->time = time;
        for (const char* letter = letters; *letter; ++letter)
            bundle->append(new Call([this, letter = *letter, cost](Engine&) {
                order += letter;
                now += cost;
                return Outcome::done;
            }));
        return bundle;
    }
    std::string events(char kind) {
        std::string ids;
        for (const NodeEvent& event : nodes)
            if ("gefnmi"[size_t(event.change)] == kind)
                ids += std::to_string(event.id) + " ";
        return ids;
    }

    int64_t now = 1'000'000'000, each_look = 0;
    int looks = 0;
    Definition* sine;
    std::string order;
};

inline bool silent(const std::vector<float>& sound) {
    return std::all_of(sound.begin(), sound.end(), [](float x) { return x == 0.f; });
}

} // namespace scs::test
