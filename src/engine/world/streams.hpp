// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/world/file-stream.hpp"

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace scs {

/// All streams of an engine, and the threads that read and write their files.
///
/// One thread, the leader, looks at all streams and does what they were asked for; in real time it looks several times
/// while half a buffer plays, as the data loop may not wake it, and it sleeps as long as there is no stream. Another
/// thread watches it: if one file keeps the leader longer than `patience`, the watcher leads on with the other streams,
/// and yet another thread watches. There are at most `most_threads`; so with three files that don't answer, all others
/// still stream. A thread that comes back from its file ends, if there is a watcher. No thread is ever waited for
/// longer than the others get on: one that is stuck is left behind with what it uses.
class Streams {
public:
    static constexpr int most_threads = 4;

    /// [worker] `real_time`: false: streams are synchronous, and there are no threads.
    explicit Streams(bool real_time);
    /// [any] As close_all(), and ends the threads.
    ~Streams();
    Streams(const Streams&) = delete;
    Streams& operator=(const Streams&) = delete;

    /// [worker] A new stream, see its constructor. It lives until close() or close_all(), whose result the caller has
    /// to keep as long as the data loop may know it. Throws if there is no memory or no thread for it.
    FileStream* add(SoundFile, const StreamedSamples&, std::optional<int32_t> whole, FileStream::Failed = {});
    /// [worker] Does what the stream was asked for, closes its file, and lets go of the buffer's memory. Waits no
    /// longer than 100 ms without any progress; what isn't written then is lost, and a thread closes the file when it
    /// can. Null for null.
    std::shared_ptr<FileStream> close(FileStream*);
    /// [worker] The same for all streams.
    std::vector<std::shared_ptr<FileStream>> close_all();
    /// [any] Keeps what close() gave as long as this lives, for a caller that can't know what the data loop knows.
    void keep(std::shared_ptr<FileStream>);
    /// [worker] Ends the threads of an engine that broke: files are closed as they are, and the engine's memory isn't
    /// touched.
    void abandon() noexcept;

    /// [rt] Whether to report lateness now, in the block of that number: if none was in the `blocks` before it.
    bool may_report(int32_t block, uint32_t blocks) noexcept {
        if (reported_ && uint32_t(block) - reported_at_ < blocks)
            return false;
        reported_ = true;
        reported_at_ = uint32_t(block);
        return true;
    }
    StreamCounts& counts() const noexcept { return *counts_; }
    /// [any] How many threads there are now.
    int threads() const noexcept;

private:
    struct Crew;
    struct Entry;

    void finish(std::unique_lock<std::mutex>&, const std::vector<std::shared_ptr<FileStream>>&);

    const std::shared_ptr<StreamCounts> counts_;
    const std::shared_ptr<Crew> crew_; ///< the threads share it, and it outlives this if one is stuck
    const bool real_time_;
    bool reported_ = false;    ///< [rt]
    uint32_t reported_at_ = 0; ///< [rt]
    std::mutex kept_mutex_;
    std::vector<std::shared_ptr<FileStream>> kept_;
};

} // namespace scs
