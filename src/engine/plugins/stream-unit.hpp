// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What DiskIn, VDiskIn and DiskOut have in common; for their own files.

#include "engine/abi/abi.hpp"
#include "engine/world/streams.hpp"

#include <atomic>
#include <cstring>

namespace scs {

class PluginRegistry;

/// A unit's memory is zeroed before its constructor runs.
struct StreamUnit : ::Unit {
    ::SndBuf* buffer; ///< null: no block has been computed yet
    float number;     ///< that input 0 had for this buffer
    bool own;         ///< it is one of the synth's own, which have no streams
    uint64_t serial;  ///< of the stream that the rest is about; 0: none

    float in(int index) const noexcept { return mInBuf[index][0]; }
};

/// [rt] Sets the first `frames` samples of each output to 0.
inline void clear(const ::Unit& unit, int frames) noexcept {
    for (uint32_t i = 0; i < unit.mNumOutputs; ++i)
        std::memset(unit.mOutBuf[i], 0, size_t(frames) * sizeof(float));
}

/// [rt] Finds the buffer anew, as input 0 has changed.
void change_buffer(StreamUnit&) noexcept;

/// [rt] The buffer that input 0 says, one of the synth's own among them; the first one for a number that there isn't.
/// Where a buffer is never changes while the synth plays, so this is worked out for each new number only.
inline ::SndBuf& find_buffer(StreamUnit& unit) noexcept {
    if (!(unit.in(0) == unit.number) || !unit.buffer) [[unlikely]]
        change_buffer(unit);
    return *unit.buffer;
}

/// The stream through the unit's buffer, or null.
inline FileStream* stream_of(const StreamUnit& unit) noexcept {
    return unit.own ? nullptr : static_cast<FileStream*>(unit.buffer->sndfile);
}

inline uint64_t serial_of(const FileStream* stream) noexcept {
    return stream ? stream->serial() : 0;
}

/// Whether files can be streamed through this buffer: as in scsynth it must have halves of whole blocks.
inline bool has_halves(const ::World& world, const ::SndBuf& buffer) noexcept {
    return buffer.data && buffer.frames > 0 && (buffer.frames & (2 * world.mBufLength - 1)) == 0;
}

/// [rt] Counts frames that came too late, and says so in the log, at most every ten seconds. `what`: a line with %llu.
void count_late(StreamUnit&, std::atomic<uint64_t>& count, int frames, const char* what) noexcept;

/// [worker]
void define_stream_readers(PluginRegistry&);
void define_stream_writers(PluginRegistry&);

} // namespace scs
