// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/result.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace scs {

/// What a sound file's header says, as far as it is believed.
struct SoundFileInfo {
    int64_t frames = 0; ///< never more than 8192 for each byte of the file
    int channels = 0;   ///< 1 … 1024
    double rate = 0;    ///< Hz
};

/// Header and sample format of a file to be written, as libsndfile's format number.
/// Names are scsynth's, case doesn't matter: "aiff", "wav", "flac", "caf" … and "int16", "float", "mulaw" …
/// Errors: "unsupported header format", "unsupported sample format". [any]
Result<int> sound_file_format(std::string_view header, std::string_view sample);

/// A sound file that is open for reading or for writing, closed with the object. [worker]
/// No content of a file is believed: whatever it holds gives samples or an error's text.
class SoundFile {
public:
    /// Opens a regular file in any format that libsndfile knows by its content.
    static Result<SoundFile> open(const std::string& path);
    /// Makes or overwrites a file. A format that can't hold that many channels, or a rate that isn't between 1 and
    /// 2^31 - 1 Hz, is an error and leaves an existing file as it was. Samples beyond ±1 are clipped in integer
    /// formats.
    static Result<SoundFile> create(const std::string& path, int format, int channels, double rate);

    const SoundFileInfo& info() const noexcept { return info_; }

    /// Moves to frame `start` (clipped to the file) and reads up to `frames` frames to `out`, interleaved. Returns
    /// how many there were; those that a truncated file lacks are left as they are in `out`.
    int64_t read(int64_t start, int64_t frames, float* out) noexcept;
    /// Appends interleaved frames. Error: the disk is full or the like.
    Result<int64_t> write(const float* in, int64_t frames);

    /// Writes the rest and closes. Only needed by those who want to know.
    Result<int64_t> close();
    /// Gives the file (a SNDFILE*, at its present position) to the caller, who passes it to close_handle().
    void* release() noexcept { return file_.release(); }
    /// Closes what release() gave; null is fine.
    static void close_handle(void* handle) noexcept;
    /// Frames that were written to a file which is open for that, else -1; also for null. Not while another thread
    /// uses it.
    static int64_t written_frames(void* handle) noexcept;

private:
    struct Closer {
        void operator()(void* handle) const noexcept { close_handle(handle); }
    };
    using Handle = std::unique_ptr<void, Closer>;

    SoundFile(Handle file, SoundFileInfo info) : file_(std::move(file)), info_(info) {}

    Handle file_;
    SoundFileInfo info_;
};

} // namespace scs
