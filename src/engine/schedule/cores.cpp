// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/schedule/cores.hpp"

#include <algorithm>
#include <fstream>
#include <sched.h>
#include <set>

namespace scs {
namespace {

/// The numbers of a core's hardware threads, as the kernel lists them; empty if it doesn't.
std::string siblings(const std::string& folder, int thread) {
    std::ifstream file(folder + "/cpu" + std::to_string(thread) + "/topology/thread_siblings_list");
    std::string text;
    std::getline(file, text);
    return text;
}

} // namespace

int cores_to_run_on(const std::string& folder) {
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return 1; // there are more hardware threads than the set has room for
    std::set<std::string> cores;
    int untold = 0;
    for (int thread = 0; thread < CPU_SETSIZE; ++thread)
        if (!CPU_ISSET(thread, &allowed))
            continue;
        else if (const std::string core = siblings(folder, thread); core.empty())
            ++untold;
        else
            cores.insert(core);
    return std::max(1, int(cores.size()) + untold);
}

} // namespace scs
