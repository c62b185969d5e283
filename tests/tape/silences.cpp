// SPDX-License-Identifier: GPL-3.0-or-later
#include "silences.hpp"

#include <algorithm>
#include <cmath>

namespace scs::test {

int Silences::open(const std::string& path) {
    return file_.open(path, sizeof(SilencesHeader));
}

void Silences::hear(SilencesHeader& header, uint64_t nsec) noexcept {
    const uint64_t before = header.heard;
    if (before != 0 && nsec >= before + shortest) {
        SilencesHeader::Silence& silence = header.silences[header.count % SilencesHeader::room];
        silence.end = nsec;
        silence.length = nsec - before;
        ++header.count;
    }
    header.heard = std::max(before, nsec);
}

void Silences::record(uint64_t nsec, uint32_t frames, uint32_t rate, std::span<const float* const> channels) noexcept {
    auto& header = *static_cast<SilencesHeader*>(file_.memory());
    header.frames = frames;
    for (uint32_t frame = 0; frame < frames; ++frame)
        if (std::any_of(channels.begin(), channels.end(),
                        [&](const float* channel) { return channel && std::abs(channel[frame]) > quiet; }))
            hear(header, nsec + frame * uint64_t(1'000'000'000) / rate);
}

} // namespace scs::test
