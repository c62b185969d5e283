// SPDX-License-Identifier: GPL-3.0-or-later
// What each turn of a steady graph takes, for bench/simulation.py: one thread computes all of it, and the engine's
// trace says how long each batch or lone voice took. What plays is read from standard input:
//
//     def FILE
//     group ID
//     synth NAME ID GROUP [CONTROL VALUE]...
//
//     item-costs CYCLES
//
// Prints the walk's median ns of a block, then a line for each turn in its order: median ns, voices, SynthDef.
#include "stage.hpp"

#include "engine/schedule/help-policy.hpp"
#include "engine/schedule/trace.hpp"

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <limits>
#include <map>
#include <memory>
#include <sstream>

using namespace scs;
using namespace scs::bench;

namespace {

constexpr int warm = 2000; // cycles; by then nothing is batched anew

void play(Stage& stage, std::istream& lines) {
    std::map<std::string, Definition*, std::less<>> definitions;
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::string what, name;
        int32_t id = 0, group = 0;
        words >> what;
        if (what == "def") {
            words >> name;
            Definition* const made = stage.load(name);
            definitions[made->program->name] = made;
        } else if (what == "group") {
            words >> id;
            (void)stage.group(id);
        } else if (what == "synth" && words >> name >> id >> group) {
            if (!definitions.contains(name))
                throw std::runtime_error("no SynthDef " + name);
            Synth& made = stage.synth(*definitions[name], id, AddAction::tail, group);
            float value;
            while (words >> name >> value)
                stage.set(made, name.c_str(), value);
        } else {
            throw std::runtime_error("what is \"" + line + "\"?");
        }
    }
}

double middle(std::vector<double>& values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

struct Turn {
    std::string name;
    int voices;
    std::vector<double> nsec;
};

/// Reads what was recorded of a cycle.
void read(Trace& trace, std::vector<Turn>& turns, std::vector<double>& walks) {
    size_t count = 0;
    (void)trace.read([&](size_t, const TraceRecord& record) {
        if (record.kind == TraceKind::walk)
            walks.push_back(record.nsec);
        if (record.kind != TraceKind::job)
            return true;
        if (count == turns.size())
            turns.push_back({std::string(record.text()), record.count, {}});
        Turn& turn = turns[count++];
        if (turn.name != record.text() || turn.voices != record.count)
            throw std::runtime_error("the turns don't stay the same");
        turn.nsec.push_back(record.nsec);
        return true;
    });
    if (count != turns.size())
        throw std::runtime_error("the turns don't stay the same");
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fprintf(stderr, "item-costs CYCLES < GRAPH\n");
        return 2;
    }
    // Turns are traced only where there are helpers; these are never asked.
    const HelpPolicy never{.waking_load = std::numeric_limits<double>::max()};
    Stage stage(roomy(2, &never));
    play(stage, std::cin);
    stage.cycles(warm);
    if (!stage.sounds()) {
        std::fputs("nothing is heard\n", stderr);
        return 1;
    }
    Trace& trace = *stage.engine->trace();
    auto rings = std::make_unique<Trace::Rings>(2);
    const int32_t number = trace.start(rings);
    trace.begin_reading();
    std::vector<Turn> turns;
    std::vector<double> walks;
    for (int cycle = std::atoi(argv[1]); cycle > 0; --cycle) {
        (void)trace.read_by(number);
        stage.cycles(1);
        read(trace, turns, walks);
    }
    (void)trace.stop(number);
    std::printf("%.0f\n", middle(walks));
    for (Turn& turn : turns)
        std::printf("%.0f %d %s\n", middle(turn.nsec), turn.voices, turn.name.c_str());
}
