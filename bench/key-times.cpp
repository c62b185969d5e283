// SPDX-License-Identifier: GPL-3.0-or-later
// What keys cost: notes of sclang's default synth that begin in one cycle of 64 frames, the cycle in which they sound
// on, and the one in which they end. Medians, as a Markdown table.
//
//     build/bench/key-times <default.scsyndef> [notes]
#include "engine/control/bindings.hpp"
#include "engine/control/key-binding.hpp"
#include "stage.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

using namespace scs;
using namespace scs::bench;

namespace {

constexpr int rounds = 301;
constexpr float velocity = 0.01f;

std::vector<ControlEvent> events(ControlEvent::Kind kind, int notes) {
    std::vector<ControlEvent> made(size_t(notes), ControlEvent{});
    for (int i = 0; i < notes; ++i)
        made[size_t(i)] = {kind, 0, 0, uint8_t(i), int32_t(i * frames / notes), velocity};
    return made;
}

} // namespace

int main(int argc, char** argv) {
    const int notes = argc > 2 ? std::atoi(argv[2]) : 100;
    if (argc < 2 || notes < 1 || notes > KeySettings::most_voices) {
        std::fprintf(stderr, "usage: key-times <default.scsyndef> [notes, 1 to %d]\n", KeySettings::most_voices);
        return 1;
    }
    Stage stage(roomy(1));
    stage.load(argv[1]);
    KeySettings keys;
    keys.synthdef = "default";
    keys.voices = KeySettings::most_voices;
    std::unique_ptr<Binding> binding = std::make_unique<KeyBinding>(1, keys);
    stage.engine->bindings().put(binding);

    constexpr std::array names = {"begin", "sound on", "end"};
    std::array<std::vector<int64_t>, 3> times;
    for (int round = 0; round < rounds; ++round) {
        times[0].push_back(stage.cycle(events(ControlEvent::Kind::note_on, notes)));
        times[1].push_back(stage.cycle());
        times[2].push_back(stage.cycle(events(ControlEvent::Kind::note_off, notes)));
        if (stage.engine->tree().counts().synths() != notes) {
            std::fprintf(stderr, "the notes don't all play\n");
            return 1;
        }
        stage.engine->tree().free(stage.engine->tree().root());
        stage.cycle();
        stage.pump();
    }
    std::printf("| %d notes that … in a cycle of %d frames | µs | %% of it |\n|---|---|---|\n", notes, frames);
    for (size_t i = 0; i < names.size(); ++i) {
        std::nth_element(times[i].begin(), times[i].begin() + rounds / 2, times[i].end());
        const double nsec = double(times[i][rounds / 2]);
        std::printf("| %s | %.1f | %.1f |\n", names[i], nsec / 1000, 100 * nsec * rate / frames / 1e9);
    }
}
