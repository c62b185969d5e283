// SPDX-License-Identifier: GPL-3.0-or-later
// Prints how long it takes until a core has an answer from another one, "100 ns": the time of a round trip of a cache
// line between the first two that this process may run on, the shortest of some. "0 ns": there is but one.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <sched.h>
#include <thread>
#include <vector>

namespace {

constexpr uint32_t trips = 20'000;
constexpr int tries = 5;

struct alignas(128) Line {
    std::atomic<uint32_t> count{0};
};

std::vector<int> allowed_cores() {
    cpu_set_t set;
    std::vector<int> found;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        for (int core = 0; core < CPU_SETSIZE; ++core)
            if (CPU_ISSET(core, &set))
                found.push_back(core);
    return found;
}

void stay_on(int core) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(core, &set);
    (void)sched_setaffinity(0, sizeof set, &set);
}

double nsec_of_a_trip(int here, int there) {
    Line call, answer;
    const auto wait_for = [](const Line& line, uint32_t count) {
        while (line.count.load(std::memory_order_acquire) != count) {
        }
    };
    std::thread other([&] {
        stay_on(there);
        for (uint32_t i = 1; i <= trips; ++i) {
            wait_for(call, i);
            answer.count.store(i, std::memory_order_release);
        }
    });
    stay_on(here);
    std::chrono::steady_clock::time_point began;
    for (uint32_t i = 1; i <= trips; ++i) {
        call.count.store(i, std::memory_order_release);
        wait_for(answer, i);
        if (i == 1) // both are awake
            began = std::chrono::steady_clock::now();
    }
    const std::chrono::duration<double, std::nano> passed = std::chrono::steady_clock::now() - began;
    other.join();
    return passed.count() / (trips - 1);
}

} // namespace

int main() {
    const std::vector<int> cores = allowed_cores();
    double shortest = 0;
    for (int i = 0; i < tries && cores.size() > 1; ++i) {
        const double nsec = nsec_of_a_trip(cores[0], cores[1]);
        shortest = i ? std::min(shortest, nsec) : nsec;
    }
    std::printf("%.0f ns\n", shortest);
}
