// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/nonblocking.hpp"
#include "engine/rt/deadline.hpp"
#include "engine/rt/ring-buffer.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace scs {

enum class TraceKind : uint8_t {
    cycle,  ///< of the data loop; count: frames
    walk,   ///< through the tree, for a block; count: the block's number
    signal, ///< the owner has the helpers look at its list
    awake,  ///< a helper doesn't sleep
    job,    ///< what is computed as one: count voices of the SynthDef of that name
    write,  ///< what count jobs have computed is written to buses
    wait,   ///< the walk waits for a helper
};

/// What a thread did from one moment to another. Its own copy of all that it says, so that it may be read at any time.
struct TraceRecord {
    static constexpr size_t most_name_bytes = 44;

    int64_t began = 0; ///< ns of the clock
    uint32_t nsec = 0; ///< how long it took
    int32_t count = 0;
    TraceKind kind = TraceKind::cycle;
    uint8_t name_bytes = 0;
    char name[most_name_bytes] = {}; ///< cut at that

    std::string_view text() const noexcept { return {name, name_bytes}; }
};
static_assert(sizeof(TraceRecord) == 64);

/// Records what the data loop and its helpers do, for one reader at a time. Each thread writes to a ring of its own; a
/// record that finds no room is dropped and counted. Nothing here waits or makes a system call; what isn't recorded
/// costs a load and a branch. Threads are numbered as in Helpers::Run: 0 the owner, from 1 on the helpers.
class Trace {
public:
    static constexpr size_t records_a_thread = 32768;
    static constexpr int64_t patience = 5'000'000'000; ///< ns. A recording ends when it hasn't been read for that long.

    /// Where the records of all threads lie.
    class Rings {
    public:
        /// [worker] 2 MiB a thread, if it is `records_a_thread`. Throws if there is no memory.
        explicit Rings(int threads, size_t records = records_a_thread);

    private:
        friend Trace;
        std::vector<std::unique_ptr<RingBuffer<TraceRecord>>> of_;
    };

    explicit Trace(int threads, NanoClock clock = NanoClock::system()) noexcept : threads_(threads), clock_(clock) {}
    ~Trace();
    Trace(const Trace&) = delete;
    Trace& operator=(const Trace&) = delete;
    /// [any] One that never records, for what isn't traced.
    static Trace& none() noexcept;

    int threads() const noexcept { return threads_; }
    /// [any] Before it records for the first time.
    void set_clock(NanoClock clock) noexcept { clock_ = clock; }

    // ---- [rt] each thread that is traced

    /// To be called before what is recorded: when it begins; 0: it isn't recorded.
    int64_t begin() const noexcept { return on_.load(std::memory_order_relaxed) ? clock_.now() : 0; }
    /// To be called after it, with what begin() returned.
    void end(size_t thread, TraceKind kind, int64_t began, int32_t count = 0, std::string_view name = {}) noexcept {
        if (began)
            write(thread, kind, began, count, name);
    }

    // ---- [rt] the data loop, or whoever has its place

    /// begin() of a cycle. Ends a recording that hasn't been read for too long.
    int64_t begin_cycle() noexcept SCS_NONBLOCKING;
    bool on() const noexcept { return on_.load(std::memory_order_relaxed); }
    /// [any] Whether start() needs no rings.
    bool has_rings() const noexcept { return rings_.load(std::memory_order_acquire); }
    /// Starts a recording; takes the rings, unless it has some. Returns its number, from 1 on; 0: one is under way.
    int32_t start(std::unique_ptr<Rings>&) noexcept SCS_NONBLOCKING;
    /// Somebody reads this recording, which must be the last that was started: else the answer is false.
    bool read_by(int32_t number) noexcept SCS_NONBLOCKING;
    /// Ends it. false: as above.
    bool stop(int32_t number) noexcept SCS_NONBLOCKING;

    // ---- [osc] the reader, after a start()

    /// Forgets what was recorded so far. Afterwards only what begins from now on is read.
    void begin_reading() noexcept;
    /// Removes records, in turn those of each thread, whose own are in the order of their ends, as long as
    /// `take(thread, record)` returns true. Returns whether there are more; then the last one wasn't removed.
    template <class Take>
    bool read(Take&& take) {
        Rings* const rings = rings_.load(std::memory_order_acquire);
        if (!rings)
            return false;
        for (size_t empty = 0; empty < rings->of_.size(); next_ = (next_ + 1) % rings->of_.size()) {
            RingBuffer<TraceRecord>& ring = *rings->of_[next_];
            TraceRecord record;
            if (ring.peek({&record, 1}) == 0) {
                ++empty;
                continue;
            }
            empty = 0;
            if (record.began >= reads_from_ && !take(next_, record))
                return true;
            (void)ring.consume(1);
        }
        return false;
    }
    /// The moment of begin_reading(), ns.
    int64_t reads_from() const noexcept { return reads_from_; }
    /// Numbers what is sent of it, from 0 on.
    uint32_t next_page() noexcept { return pages_++; }
    /// How many records found no room since then.
    uint64_t dropped() const noexcept;

private:
    void write(size_t thread, TraceKind, int64_t began, int32_t count, std::string_view name) noexcept SCS_NONBLOCKING;
    bool abandoned() const noexcept { return clock_.now() - last_read_ > patience; }
    uint64_t all_dropped() const noexcept;

    const int threads_;
    NanoClock clock_;
    std::atomic<bool> on_{false};
    std::atomic<Rings*> rings_{nullptr}; ///< once there, they stay: a thread may be just writing
    // The data loop's.
    int32_t number_ = 0;
    int64_t last_read_ = 0;
    // The reader's.
    int64_t reads_from_ = 0;
    uint64_t dropped_before_ = 0;
    uint32_t pages_ = 0;
    size_t next_ = 0; ///< whose record is next
};

} // namespace scs
