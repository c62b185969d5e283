// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/engine-settings.hpp"

#include "engine/base/available-memory.hpp"
#include "engine/schedule/cores.hpp"

#include <algorithm>

namespace scs {
namespace {

constexpr int most_automatic_threads = 4; ///< RTKit gives a user 25 with a real-time priority

/// What an engine with these settings takes, or may take, of the tables that a setting can make large. About as much:
/// small things aren't counted, nor is the table of buffers, which takes 120 bytes for each that is made.
int64_t large_memory(const Settings& s) noexcept {
    constexpr int64_t node = 256;
    return int64_t(s.rt_memory_kib) * 1024 + s.audio_buses * (int64_t(s.block_size) * 4 + 4) +
           s.control_buses * int64_t(8) + s.max_nodes * node + int64_t(s.wire_buffers) * s.block_size * 4;
}

} // namespace

std::string problem_with(const Settings& s) {
    if (std::string problem = first_problem(engine_settings, s); !problem.empty())
        return problem;
    if (std::string problem = row_problem(quantum_limit, s); !problem.empty())
        return problem;
    if (s.inputs + s.outputs > s.audio_buses)
        return "audio-buses must be at least inputs + outputs";
    if (!(s.sample_rate >= lowest_rate && s.sample_rate <= highest_rate))
        return "the sample rate must be " + std::to_string(lowest_rate) + " to " + std::to_string(highest_rate) + " Hz";
    return {};
}

// The defaults are small enough to be taken without asking.
Error find_missing_memory(const Settings& settings) {
    const int64_t bytes = large_memory(settings);
    if (bytes <= large_memory(Settings()) || leaves_memory(bytes))
        return {};
    return Error{"not enough memory for what the settings ask for: " + std::to_string(bytes >> 20) +
                 " MiB, of which scsynth.rt-memory are " + std::to_string(settings.rt_memory_kib >> 10)};
}

Settings with_threads(Settings settings) {
    if (settings.parallel == "off")
        settings.threads = 1;
    if (settings.threads == 0) {
        settings.threads = std::min(cores_to_run_on(), most_automatic_threads);
        settings.reluctant = true;
    }
    return settings;
}

} // namespace scs
