// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/result.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace scs {

/// What a sound file's header says, within plausible limits.
struct SoundFileInfo {
    int64_t frames = 0; ///< never more than 8192 for each byte of the file
    int channels = 0;   ///< 1 … 1024
    double rate = 0;    ///< Hz
};

/// libsndfile's format number for the header and sample format of a file to be written. Names are scsynth's, in any
/// case: "aiff", "wav", "flac", "caf" … and "int16", "float", "mulaw" … Errors: "unsupported header format",
/// "unsupported sample format". [any]
Result<int> sound_file_format(std::string_view header, std::string_view sample);

/// The names that it knows, with commas between: "aiff, aifc, wav …" and "int8, uint8 …". Not every sample format goes
/// with every header. [any but rt]
std::string sound_file_headers();
std::string sound_file_samples();

/// Opens a certain file with the flags of open(2); -1 and errno if it fails.
using FileOpener = std::function<int(int flags)>;

/// A sound file that is open for reading or for writing; the destructor closes it. [worker] A file's content isn't
/// trusted: whatever it holds, the result is samples or an error.
class SoundFile {
public:
    /// Opens a regular file in any format that libsndfile knows by its content.
    static Result<SoundFile> open(const std::string& path);
    static Result<SoundFile> open(const FileOpener&);
    /// Makes or overwrites a file. Errors: the format can't hold that many channels, or the rate isn't between 1 and
    /// 2^31 - 1 Hz; an existing file then stays as it was. In integer formats samples beyond ±1 are clipped. `growing`:
    /// nobody knows how long it becomes, so a WAV file becomes an RF64 file beyond 4 GB. It has the extensible header
    /// for that, and room in it.
    static Result<SoundFile> create(const std::string& path, int format, int channels, double rate,
                                    bool growing = false);
    static Result<SoundFile> create(const FileOpener&, int format, int channels, double rate, bool growing = false);

    const SoundFileInfo& info() const noexcept { return info_; }

    /// Moves to frame `start` (clipped to the file) and reads up to `frames` frames to `out`, interleaved. Returns how
    /// many it read. The rest of `out` isn't touched.
    int64_t read(int64_t start, int64_t frames, float* out) noexcept;
    /// Reads up to `frames` frames from where the last read ended. Returns how many; 0: the end, or the file is open
    /// for writing.
    int64_t read_on(int64_t frames, float* out) noexcept;
    /// Lets read_on() begin again with the first frame. false: it can't.
    bool rewind() noexcept;
    /// Appends interleaved frames. Errors: those of the disk, e.g. that it is full; the format holds 4 GB at most; the
    /// file is open for reading. What was written before stays, in whole frames (info().frames), and more may follow.
    Result<int64_t> write(const float* in, int64_t frames);
    /// Has the header tell what is written so far, where the format has one that can.
    void update_header() noexcept;

    /// Writes the rest and closes the file. Only needed to see whether that succeeds.
    Result<int64_t> close();
    /// Lets go of the file without closing it, because libsndfile crashed on it.
    void abandon() noexcept { (void)file_.release(); }

private:
    struct Closer {
        void operator()(void* handle) const noexcept;
    };
    using Handle = std::unique_ptr<void, Closer>;

    SoundFile(Handle file, SoundFileInfo info, bool writes, int64_t most_frames = 0)
        : file_(std::move(file)), info_(info), most_frames_(most_frames), writes_(writes) {}

    Handle file_;
    SoundFileInfo info_;
    int64_t most_frames_; ///< that it may get
    bool writes_;
};

} // namespace scs
