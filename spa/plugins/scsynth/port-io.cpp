// SPDX-License-Identifier: GPL-3.0-or-later
#include "ports.hpp"

#include <algorithm>

namespace scs::spa {

std::span<const std::byte> PortIo::take_bytes() noexcept {
    if (!area_ || area_->status != SPA_STATUS_HAVE_DATA || area_->buffer_id >= buffers_.size())
        return {};
    area_->status = SPA_STATUS_NEED_DATA;
    // The pointer may be another one each cycle (DYNAMIC_DATA).
    const spa_data& data = buffers_[area_->buffer_id]->datas[0];
    const uint32_t offset = std::min(data.chunk->offset, data.maxsize);
    const uint32_t size = std::min(data.chunk->size, data.maxsize - offset);
    if (!data.data)
        return {};
    return {static_cast<const std::byte*>(data.data) + offset, size};
}

const float* PortIo::take_input(uint32_t frames) noexcept {
    const std::span<const std::byte> chunk = take_bytes();
    if (chunk.empty() || chunk.size() / sizeof(float) < frames ||
        (buffers_[area_->buffer_id]->datas[0].chunk->flags & SPA_CHUNK_FLAG_EMPTY))
        return nullptr;
    return reinterpret_cast<const float*>(chunk.data());
}

std::span<std::byte> PortIo::begin_bytes() noexcept {
    writing_ = false;
    if (!area_ || buffers_.empty())
        return {};
    // Sound goes on whether or not the peer took the last buffer, so each cycle writes to the one after it. Whoever
    // read that one is done: a cycle ends before the next one begins.
    current_ = area_->buffer_id < buffers_.size() ? (area_->buffer_id + 1) % uint32_t(buffers_.size()) : 0;
    const spa_data& data = buffers_[current_]->datas[0];
    if (!data.data)
        return {};
    writing_ = true;
    return {static_cast<std::byte*>(data.data), data.maxsize};
}

float* PortIo::begin_output(uint32_t frames) noexcept {
    const std::span<std::byte> bytes = begin_bytes();
    writing_ = writing_ && bytes.size() / sizeof(float) >= frames;
    return writing_ ? reinterpret_cast<float*>(bytes.data()) : nullptr;
}

void PortIo::end_output(uint32_t frames) noexcept {
    end(frames * uint32_t(sizeof(float)), sizeof(float));
}

void PortIo::end(uint32_t bytes, int32_t stride) noexcept {
    if (!writing_)
        return;
    writing_ = false;
    spa_chunk& chunk = *buffers_[current_]->datas[0].chunk;
    chunk.offset = 0;
    chunk.size = bytes;
    chunk.stride = stride;
    chunk.flags = 0;
    area_->buffer_id = current_;
    area_->status = SPA_STATUS_HAVE_DATA;
}

uint32_t PortIo::room() const noexcept {
    if (!area_ || buffers_.empty())
        return 0;
    return buffers_[0]->datas[0].maxsize / uint32_t(sizeof(float));
}

} // namespace scs::spa
