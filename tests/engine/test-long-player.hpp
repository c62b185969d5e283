// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/ensemble/ensemble.hpp"
#include "engine/world/buses.hpp"
#include "test-player.hpp"

#include <algorithm>
#include <random>
#include <span>
#include <string_view>
#include <vector>

// What the tests of blocks that are computed at once share.
namespace scs::test {

constexpr int most_at_once = 16; // blocks of most cycles; in longer ones a stage does several at a time
constexpr int seen_buses = 8;

/// Plays in cycles of several blocks.
struct LongPlayer : Player {
    using Player::Player;
    /// That many cycles; before some of them something happens.
    Played play_cycles(int cycles, size_t count) {
        for (int i = 0; i < cycles; ++i) {
            if (pick(3) == 0)
                for (int n = 1 + pick(3); n > 0; --n)
                    act();
            keep_groups();
            for (int n = engine->tree().counts().synths(); n < 50; ++n)
                add(count, 1 + pick(3));
            while (engine->tree().counts().synths() > 160)
                if (Synth* synth = any_synth())
                    engine->tree().free(*synth);
            cycle(1 + pick(i % 8 == 7 ? Ahead::most_blocks : most_at_once));
        }
        return told();
    }
    void cycle(int blocks) { cycle_of(blocks * 64); }
    void cycle_of(int frames) {
        const size_t at = played.sound.size();
        played.sound.resize(at + size_t(frames));
        std::vector<float> second(size_t(frames), 0.f), heard(second);
        for (float& sample : heard)
            sample = float(hearing() % 1000) / 1000.f;
        float* out[] = {played.sound.data() + at, second.data()};
        const float* in[] = {hears ? heard.data() : nullptr, nullptr};
        engine->process(frames, ntp_advance(start, position, 48000), 48000, in, out);
        position += frames;
        pump();
        note_buses();
    }
    bool hears = false; ///< something comes from outside
    std::minstd_rand hearing;
    /// What the last block has left on buses.
    void note_buses() {
        Buses& buses = engine->buses();
        const std::span<const int32_t> touched(buses.audio_touched(), seen_buses);
        const int32_t last = *std::max_element(touched.begin(), touched.end());
        for (int bus = 0; bus < seen_buses; ++bus) {
            const float* from = buses.audio(bus);
            const size_t at = played.sound.size();
            played.sound.resize(at + 64);
            if (touched[size_t(bus)] == last)
                std::copy_n(from, 64, played.sound.begin() + ptrdiff_t(at));
        }
    }
};

inline void add(LongPlayer& f, std::string_view kind, int32_t id, float out = 0, float second = 0) {
    Synth& made = f.voice(kind, id);
    set_named(f.engine->tree(), made, "out", 0, out);
    set_named(f.engine->tree(), made, "second", 0, second);
}

} // namespace scs::test
