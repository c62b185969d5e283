// SPDX-License-Identifier: GPL-3.0-or-later
#include "tape-file.hpp"

#include <algorithm>
#include <new>

namespace scs::test {

int TapeFile::open(const std::string& path, uint32_t channels, uint32_t capacity) {
    if (const int res = file_.open(path, sizeof(TapeHeader) + sizeof(float) * channels * size_t(capacity)); res < 0)
        return res;
    header_ = new (file_.memory()) TapeHeader{};
    header_->channels = channels;
    header_->capacity = capacity;
    samples_ = reinterpret_cast<float*>(header_ + 1);
    return 0;
}

// Some drivers count to the end of the cycle, others to its beginning: it matters where the duration changes.
bool TapeFile::leapt(uint64_t position, uint32_t frames) const noexcept {
    const uint64_t advance = position - last_position_;
    return advance != last_frames_ && advance != frames;
}

void TapeFile::record(uint64_t position, uint32_t frames, uint32_t rate,
                      std::span<const float* const> channels) noexcept {
    const bool complete = std::find(channels.begin(), channels.end(), nullptr) == channels.end();
    if (!linked_) {
        linked_ = complete;
        return;
    }
    if (begun_ && leapt(position, frames))
        ++header_->leaps;
    if (!complete)
        ++header_->empty;
    begun_ = true;
    last_position_ = position;
    last_frames_ = frames;
    header_->rate = rate;

    const uint32_t start = header_->frames;
    if (frames > header_->capacity - start) {
        header_->full = 1;
        return;
    }
    float* out = samples_ + size_t(start) * channels.size();
    for (uint32_t frame = 0; frame < frames; ++frame)
        for (const float* channel : channels)
            *out++ = channel ? channel[frame] : 0.f;
    header_->frames = start + frames;
}

} // namespace scs::test
