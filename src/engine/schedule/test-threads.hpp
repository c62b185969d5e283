// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>

namespace scs::test {

/// The states of this process's threads of a name (15 characters) as ps shows them, a letter each: S sleeps, R
/// computes.
inline std::string threads_named(std::string_view wanted) {
    const std::string part = "(" + std::string(wanted) + ") ";
    std::string states;
    std::error_code gone; // a thread may end meanwhile
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task", gone)) {
        std::string stat;
        std::getline(std::ifstream(task.path() / "stat"), stat);
        if (const size_t name = stat.find(part); name != stat.npos)
            states += stat[name + part.size()];
    }
    return states;
}

inline std::string helper_threads() {
    return threads_named("scsynth-help");
}

/// Whether a condition becomes true, however busy the machine is.
template <class Condition>
bool wait_until(const Condition& condition) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!condition() && std::chrono::steady_clock::now() < end)
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    return condition();
}

} // namespace scs::test
