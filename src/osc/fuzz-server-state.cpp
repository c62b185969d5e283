// SPDX-License-Identifier: GPL-3.0-or-later
// libFuzzer target: a saved state is read, and what was read is written and read again.
#include "osc/server-state.hpp"

#include <cstdint>
#include <cstdlib>
#include <memory>

using namespace scs;
using namespace scs::osc;

namespace {

/// Small buffers alone.
float* allocate(int64_t samples) {
    return samples <= 65536 ? allocate_samples(samples) : nullptr;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const auto bytes = std::as_bytes(std::span(data, size));
    for (const ScoreOf whose : {ScoreOf::file, ScoreOf::kept_folder}) {
        const auto state = read_score(bytes, whose, allocate);
        if (!state)
            continue;
        std::vector<std::byte> again;
        const auto sink = [&](std::span<const std::byte> some) {
            again.insert(again.end(), some.begin(), some.end());
            return true;
        };
        // Without SynthDefs: one that is empty can't be written.
        if (!write_score({}, state.value().buffers, state.value().tree, sink))
            continue;
        const auto reread = read_score(again, whose, allocate);
        if (!reread || reread.value().tree.nodes.size() != state.value().tree.nodes.size() ||
            reread.value().buffers.size() != state.value().buffers.size())
            std::abort();
    }
    return 0;
}
