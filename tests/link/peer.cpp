// SPDX-License-Identifier: GPL-3.0-or-later
// A peer in a Link session, as Link's own documentation has one; nothing of ours is in it.
//
//     link-peer TEMPO [SECONDS ACTION NUMBER] ...
//
// ACTION is tempo (beats a minute), play (0 or 1) or jump (a beat of 4). It happens SECONDS after another peer has
// come. Prints where it is every 10 ms: seconds since 1970, the phase to a quantum of 4 beats then, beats a minute,
// whether it plays, and the number of other peers.
#include <ableton/Link.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <time.h>

namespace {

using std::chrono::microseconds;

constexpr double quantum = 4;

double wall_clock() {
    timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

void act(ableton::Link& link, const std::string& action, double number) {
    auto state = link.captureAppSessionState();
    const auto now = link.clock().micros();
    if (action == "tempo")
        state.setTempo(number, now);
    else if (action == "play")
        state.setIsPlaying(number != 0, now);
    else
        state.forceBeatAtTime(number, now, quantum);
    link.commitAppSessionState(state);
    std::printf("# %.6f %s %g\n", wall_clock(), action.c_str(), number);
}

} // namespace

int main(int argc, char** argv) {
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    ableton::Link link(argc > 1 ? std::atof(argv[1]) : 120);
    link.enableStartStopSync(true);
    link.enable(true);
    double met = 0;
    for (int next = 2;;) {
        // Both clocks at once, but for the fraction of a microsecond between two readings.
        const auto before = link.clock().micros();
        const double wall = wall_clock();
        const auto now = link.clock().micros();
        if (now - before < microseconds(20)) {
            const auto state = link.captureAppSessionState();
            std::printf("%.6f %.6f %.6f %d %zu\n", wall, state.phaseAtTime(now, quantum), state.tempo(),
                        int(state.isPlaying()), link.numPeers());
        }
        if (met == 0 && link.numPeers() > 0)
            met = wall;
        if (met > 0 && next + 2 < argc && wall >= met + std::atof(argv[next])) {
            act(link, argv[next + 1], std::atof(argv[next + 2]));
            next += 3;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
}
