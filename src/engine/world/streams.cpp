// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/world/streams.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <pthread.h>
#include <system_error>
#include <thread>
#include <utility>

namespace scs {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr auto longest_standstill = 100ms; ///< that a caller waits for, without any progress
/// How often the leader looks at the streams while half of the shortest buffer plays.
constexpr int looks = 8;
constexpr auto shortest_interval = 1ms, longest_interval = 50ms;
/// How long one file may keep the leader, in its intervals and at least.
constexpr int patient_intervals = 4;
constexpr auto least_patience = 10ms, most_patience = 50ms;

} // namespace

struct Streams::Entry {
    std::shared_ptr<FileStream> stream;
    bool taken = false;   ///< a thread is at it
    bool closing = false; ///< to be closed once it has done what it was asked for
};

/// The threads and what they share. The mutex is held for moments only, never while a file is used.
struct Streams::Crew : std::enable_shared_from_this<Crew> {
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<Entry> entries;
    std::chrono::nanoseconds interval = longest_interval;
    size_t next = 0; ///< index of the entry that is looked at first
    bool ending = false;
    int threads = 0;
    uint64_t last_thread = 0; ///< threads are numbered from 1 on
    uint64_t leader = 0, watcher = 0;
    std::optional<Clock::time_point> at_file_since; ///< the leader, now
    uint64_t steps = 0;                             ///< that were done, by all threads

    // All with the mutex held.
    void start_thread();
    void lead(uint64_t self) noexcept;
    Entry* find(const FileStream* stream) noexcept;
    Entry* find_work() noexcept;
    void update_interval() noexcept;
    bool leader_is_stuck() const noexcept;
    std::chrono::nanoseconds patience() const noexcept;
    void sleep(std::unique_lock<std::mutex>&, std::chrono::nanoseconds longest);
    template <class Condition>
    bool wait_for(std::unique_lock<std::mutex>&, Condition&&);

    void run(uint64_t self) noexcept;
    bool work(std::unique_lock<std::mutex>&, std::span<float> scratch);
};

/// It inherits the worker's signal mask, with which a crash in libsndfile can be caught.
void Streams::Crew::start_thread() {
    const uint64_t number = ++last_thread;
    std::thread([self = shared_from_this(), number] { self->run(number); }).detach();
    ++threads;
}

Streams::Entry* Streams::Crew::find(const FileStream* stream) noexcept {
    const auto found = std::ranges::find_if(entries, [&](const Entry& each) { return each.stream.get() == stream; });
    return found == entries.end() ? nullptr : &*found;
}

/// The next entry with something to do that nobody is at, or null. Each gets its turn.
Streams::Entry* Streams::Crew::find_work() noexcept {
    for (size_t i = 0; i < entries.size(); ++i) {
        next = next + 1 < entries.size() ? next + 1 : 0;
        Entry& entry = entries[next];
        if (!entry.taken && (entry.closing || entry.stream->has_requests()))
            return &entry;
    }
    return nullptr;
}

void Streams::Crew::update_interval() noexcept {
    interval = longest_interval;
    for (const Entry& entry : entries) {
        const std::chrono::duration<double> half(entry.stream->seconds_of_half());
        if (half < looks * longest_interval)
            interval = std::min(interval, std::chrono::duration_cast<std::chrono::nanoseconds>(half / looks));
    }
    interval = std::max<std::chrono::nanoseconds>(interval, shortest_interval);
}

std::chrono::nanoseconds Streams::Crew::patience() const noexcept {
    return std::clamp<std::chrono::nanoseconds>(patient_intervals * interval, least_patience, most_patience);
}

bool Streams::Crew::leader_is_stuck() const noexcept {
    return at_file_since && Clock::now() - *at_file_since >= patience();
}

void Streams::Crew::sleep(std::unique_lock<std::mutex>& lock, std::chrono::nanoseconds longest) {
    if (entries.empty())
        changed.wait(lock);
    else
        changed.wait_for(lock, longest);
}

/// Waits for the condition as long as there is progress. Whether it came true.
template <class Condition>
bool Streams::Crew::wait_for(std::unique_lock<std::mutex>& lock, Condition&& condition) {
    for (uint64_t before = steps; !condition(); before = steps)
        if (!changed.wait_for(lock, longest_standstill, [&] { return condition() || steps != before; }))
            return false;
    return true;
}

void Streams::Crew::lead(uint64_t self) noexcept {
    leader = self;
    at_file_since.reset();
    if (watcher == self)
        watcher = 0;
    if (watcher || threads == most_threads || ending)
        return;
    try {
        start_thread();
    } catch (const std::system_error&) {
        // Without a watcher: one more file may get stuck than there are threads for.
    }
}

/// Does one step of one stream. false: there is nothing to do.
bool Streams::Crew::work(std::unique_lock<std::mutex>& lock, std::span<float> scratch) {
    Entry* entry = find_work();
    if (!entry)
        return false;
    entry->taken = true;
    const std::shared_ptr<FileStream> stream = entry->stream;
    const bool closes = entry->closing && !stream->has_requests();
    const uint64_t self = leader;
    at_file_since = Clock::now();
    lock.unlock();
    if (closes)
        stream->close_file();
    else
        stream->serve(scratch);
    lock.lock();
    if (leader == self)
        at_file_since.reset();
    ++steps;
    entry = find(stream.get());
    entry->taken = false;
    if (entry->closing)
        changed.notify_all();
    if (closes) {
        entries.erase(entries.begin() + (entry - entries.data()));
        update_interval();
    }
    return true;
}

void Streams::Crew::run(uint64_t self) noexcept {
    pthread_setname_np(pthread_self(), "scsynth-streams");
    const auto scratch = std::make_unique<float[]>(FileStream::scratch_samples);
    std::unique_lock lock(mutex);
    while (true) {
        if (leader != self) {
            if (!leader || leader_is_stuck()) {
                lead(self);
            } else if (watcher && watcher != self) {
                break;
            } else {
                watcher = self;
                sleep(lock, patience());
                if (!ending || !entries.empty())
                    continue;
                break;
            }
        }
        if (work(lock, {scratch.get(), FileStream::scratch_samples}))
            continue;
        // What is left at the end is with threads that are stuck.
        if (ending)
            break;
        sleep(lock, interval);
    }
    if (leader == self)
        leader = 0;
    if (watcher == self)
        watcher = 0;
    --threads;
    changed.notify_all();
}

Streams::Streams(bool real_time)
    : counts_(std::make_shared<StreamCounts>()), crew_(std::make_shared<Crew>()), real_time_(real_time) {}

Streams::~Streams() {
    close_all();
    std::unique_lock lock(crew_->mutex);
    crew_->ending = true;
    crew_->changed.notify_all();
    if (crew_->entries.empty())
        crew_->wait_for(lock, [this] { return crew_->threads == 0; });
}

FileStream* Streams::add(SoundFile file, const StreamedSamples& samples, std::optional<int32_t> whole,
                         FileStream::Failed failed) {
    auto stream =
        std::make_shared<FileStream>(std::move(file), samples, whole, counts_, !real_time_, std::move(failed));
    const std::lock_guard lock(crew_->mutex);
    if (real_time_ && crew_->threads == 0)
        crew_->start_thread();
    crew_->entries.push_back({stream});
    crew_->update_interval();
    crew_->changed.notify_all(); // they sleep without an end while there are no streams
    return stream.get();
}

std::shared_ptr<FileStream> Streams::close(FileStream* stream) {
    std::unique_lock lock(crew_->mutex);
    const Entry* entry = crew_->find(stream);
    if (!entry)
        return {};
    std::vector kept{entry->stream};
    finish(lock, kept);
    return kept.front();
}

std::vector<std::shared_ptr<FileStream>> Streams::close_all() {
    std::unique_lock lock(crew_->mutex);
    std::vector<std::shared_ptr<FileStream>> kept;
    for (const Entry& entry : crew_->entries)
        if (!entry.closing) // those that are have been waited for
            kept.push_back(entry.stream);
    finish(lock, kept);
    return kept;
}

/// Closes these streams, all at the same time.
void Streams::finish(std::unique_lock<std::mutex>& lock, const std::vector<std::shared_ptr<FileStream>>& streams) {
    for (const std::shared_ptr<FileStream>& stream : streams) {
        stream->refuse_requests();
        crew_->find(stream.get())->closing = true;
    }
    const auto closed = [&] {
        return std::ranges::none_of(streams, [&](const auto& stream) { return crew_->find(stream.get()); });
    };
    if (real_time_) {
        crew_->changed.notify_all();
        crew_->wait_for(lock, closed);
    } else {
        while (crew_->work(lock, {})) {
        }
    }
    lock.unlock();
    for (const std::shared_ptr<FileStream>& stream : streams)
        stream->detach();
}

void Streams::keep(std::shared_ptr<FileStream> stream) {
    const std::lock_guard lock(kept_mutex_);
    kept_.push_back(std::move(stream));
}

void Streams::abandon() noexcept {
    const std::lock_guard lock(crew_->mutex);
    for (Entry& entry : crew_->entries) {
        entry.stream->detach();
        entry.closing = true;
    }
    crew_->ending = true;
    crew_->changed.notify_all();
}

int Streams::threads() const noexcept {
    const std::lock_guard lock(crew_->mutex);
    return crew_->threads;
}

} // namespace scs
