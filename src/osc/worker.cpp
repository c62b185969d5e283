// SPDX-License-Identifier: GPL-3.0-or-later
#include "osc/worker.hpp"

#include "engine/engine.hpp"
#include "engine/guard/fault-guard.hpp"
#include "osc/job-order.hpp"
#include "osc/plugin-turn.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <new>
#include <optional>
#include <sys/resource.h>
#include <utility>

namespace scs::osc {

namespace {

/// How long the others wait for plugins' jobs, so that as a rule all are done in the order in which they came.
constexpr std::chrono::milliseconds moment{20};
/// By how much plugins' jobs give way to those whose answers somebody waits for; as nice().
constexpr int less_urgent = 5;
/// How often real-time memory is looked after.
constexpr std::chrono::milliseconds look_interval{100};

} // namespace

/// What the worker shares with the thread for an engine's plugins, which outlives run() if it is in the midst of a job.
struct Worker::PluginThread {
    PluginThread(Engine& e, const ForPlugins& w)
        : engine(e), turn(w.owner ? w.owner() : std::string(), w.tell), limit(w.limit) {}

    Engine& engine;
    PluginTurn turn;
    const int limit; ///< seconds; 0: none
    FaultGuard::SecondStack second_stack;
    std::condition_variable changed;
    HandbackList later_jobs; ///< of commands that have begun: they come first
    HandbackList first_jobs;
    HandbackList ended;          ///< jobs that are done
    const Command* at = nullptr; ///< the job that is being done
    bool working = false;
    Clock::time_point busy_since{};
    uint64_t begun = 0, done = 0; ///< how many jobs
    bool stopped = false;         ///< no job follows
    bool forgotten = false;       ///< its engine broke

    bool busy() const noexcept { return working || !later_jobs.empty() || !first_jobs.empty(); }
    Command* next() noexcept {
        return static_cast<Command*>(later_jobs.empty() ? first_jobs.pop_front() : later_jobs.pop_front());
    }
};

/// Objects to delete that plugins' jobs may still use.
class Worker::Releases {
public:
    /// `begun`: how many jobs of plugins have begun.
    void add(Handback* object, uint64_t begun) noexcept {
        young_.push_back(object);
        young_mark_ = begun;
    }
    /// One that can be deleted, now that `done` jobs are done; null: none.
    Handback* take(uint64_t done) noexcept {
        if (old_.empty()) {
            old_ = std::exchange(young_, {});
            old_mark_ = young_mark_;
        }
        return done >= old_mark_ ? old_.pop_front() : nullptr;
    }

private:
    // Two lists, so that those that keep coming don't hold up the first.
    HandbackList old_, young_;
    uint64_t old_mark_ = 0, young_mark_ = 0;
};

/// The state of one run().
struct Worker::Run {
    Run(Engine& e, const ForPlugins& w)
        : engine(e), order(e.settings().buffers), turn(w.owner ? w.owner() : std::string(), w.tell) {}

    Engine& engine;
    JobOrder order;
    HandbackList waiting; ///< jobs, in the order in which they came
    Releases releases;
    bool look_again = false;       ///< something of `waiting` may have become possible
    Clock::time_point next_look{}; ///< after real-time memory
    std::shared_ptr<PluginThread> plugins;
    PluginTurn turn; ///< for plugins' jobs that are done in place

    bool plugins_busy() const noexcept { return plugins && plugins->busy(); }
    uint64_t begun() const noexcept { return plugins ? plugins->begun : 0; }
    uint64_t done() const noexcept { return plugins ? plugins->done : 0; }
};

Worker::Worker(Wakeup& done, ForPlugins for_plugins, std::function<void()> keep)
    : done_(done), for_plugins_(std::move(for_plugins)), keep_(std::move(keep)) {}

Worker::~Worker() {
    while (Handback* task = tasks_.pop_front())
        if (task->handed_as == Handback::Kind::release)
            delete task;
}

void Worker::add(Handback* task) noexcept {
    if (task->handed_as == Handback::Kind::job && is_counted(static_cast<Command&>(*task)))
        jobs_.fetch_add(1, std::memory_order_acq_rel);
    {
        const std::lock_guard lock(mutex_);
        tasks_.push_back(task);
    }
    changed_.notify_one();
}

void Worker::note_copy() noexcept {
    {
        const std::lock_guard lock(mutex_);
        copied_ = true;
    }
    changed_.notify_one();
}

void Worker::stop() {
    {
        const std::lock_guard lock(mutex_);
        stop_.store(true, std::memory_order_release);
    }
    changed_.notify_all();
}

void Worker::abandon() {
    {
        const std::lock_guard lock(mutex_);
        abandon_ = true;
    }
    changed_.notify_all();
}

void Worker::run(Engine& engine) {
    Run run(engine, for_plugins_);
    std::unique_lock lock(mutex_);
    while (!stopping() && !abandon_) {
        if (engine.memory_grows() && Clock::now() >= run.next_look) {
            lock.unlock();
            engine.keep_memory_ahead();
            run.next_look = Clock::now() + look_interval;
            lock.lock();
            continue;
        }
        std::optional<Clock::time_point> until;
        if (Handback* object = run.releases.take(run.done())) {
            lock.unlock();
            delete object;
        } else if (Command* ended = take_ended(run)) {
            lock.unlock();
            give_back(engine, ended);
        } else if (Handback* task = next_task(run, until)) {
            if (task->handed_as != Handback::Kind::job) {
                run.releases.add(task, run.begun());
                continue;
            }
            auto& job = static_cast<Command&>(*task);
            if (job.job_kind() == JobKind::plugin && hand_to_plugins(run, job))
                continue;
            lock.unlock();
            work_in_place(run, job);
            give_back(engine, &job);
        } else if (std::exchange(copied_, false)) {
            lock.unlock();
            keep_();
        } else {
            wait(run, lock, until);
            continue;
        }
        lock.lock();
    }
    end(run);
}

/// A plugin's job comes here if there is no thread for it.
void Worker::work_in_place(Run& run, Command& job) {
    const bool takes_turn = job.job_kind() == JobKind::plugin;
    if (takes_turn)
        (void)run.turn.take(); // nobody leaves it before the end
    job.work();
    if (takes_turn)
        run.turn.give();
}

/// Until something may have changed, or real-time memory is to be looked after.
void Worker::wait(const Run& run, std::unique_lock<std::mutex>& lock, std::optional<Clock::time_point> until) {
    if (run.engine.memory_grows())
        until = until ? std::min(*until, run.next_look) : run.next_look;
    if (until)
        changed_.wait_until(lock, *until);
    else
        changed_.wait(lock);
}

/// A job of a plugin that is done.
Command* Worker::take_ended(Run& run) {
    auto* job = static_cast<Command*>(run.plugins ? run.plugins->ended.pop_front() : nullptr);
    if (job && !job->job_follows()) {
        run.order.finish(*job);
        run.look_again = true;
    }
    return job;
}

/// A job that may be done now, or an object to delete; null: none. `until`: when to look again at the latest.
Handback* Worker::next_task(Run& run, std::optional<Clock::time_point>& until) {
    if (run.look_again) {
        run.order.begin();
        const auto possible = [&](Handback& job) { return !run.order.must_wait(static_cast<Command&>(job)); };
        if (Handback* job = run.waiting.take_first(possible))
            return job;
        run.look_again = false;
    }
    while (!tasks_.empty()) {
        if (run.plugins_busy() && Clock::now() < run.plugins->busy_since + moment) {
            until = run.plugins->busy_since + moment;
            return nullptr;
        }
        Handback* const task = tasks_.pop_front();
        if (task->handed_as != Handback::Kind::job)
            return task;
        auto& job = static_cast<Command&>(*task);
        if (JobOrder::is_open(job) || !run.order.must_wait(job))
            return task;
        run.waiting.push_back(task);
    }
    return nullptr;
}

/// Null: there is none.
std::shared_ptr<Worker::PluginThread> Worker::start_plugins(Engine& engine) {
    try {
        auto plugins = std::make_shared<PluginThread>(engine, for_plugins_);
        if (for_plugins_.start_thread && for_plugins_.start_thread([this, plugins] { run_plugins(*plugins); }))
            return plugins;
    } catch (const std::bad_alloc&) { // it is tried again with the next job
    }
    return {};
}

/// false: there is no thread for plugins' jobs.
bool Worker::hand_to_plugins(Run& run, Command& job) {
    if (!run.plugins)
        run.plugins = start_plugins(run.engine);
    if (!run.plugins)
        return false;
    PluginThread& plugins = *run.plugins;
    if (!plugins.busy())
        plugins.busy_since = Clock::now();
    if (JobOrder::is_open(job)) {
        plugins.later_jobs.push_back(&job);
    } else {
        run.order.open(job);
        plugins.first_jobs.push_back(&job);
    }
    plugins.changed.notify_one();
    return true;
}

/// On the thread for plugins' jobs, until the worker ends.
void Worker::run_plugins(PluginThread& self) {
    self.second_stack.use();
    setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + less_urgent); // on Linux, of this thread alone
    std::unique_lock lock(mutex_);
    while (true) {
        self.changed.wait(lock, [&] { return self.stopped || self.busy(); });
        if (self.stopped)
            break;
        Command* const job = self.next();
        self.working = true;
        self.at = job;
        ++self.begun;
        lock.unlock();
        if (self.turn.take()) {
            const FaultGuard::TimeLimit limit(self.limit);
            job->work();
            self.turn.give();
        }
        lock.lock();
        self.working = false;
        ++self.done;
        if (self.stopped) {
            if (!self.forgotten)
                (void)self.engine.finish_job(job); // the engine frees it
            break;
        }
        self.ended.push_back(job);
        changed_.notify_one();
    }
    self.second_stack.leave();
}

void Worker::give_back(Engine& engine, Command* job) {
    const bool counted = is_counted(*job);
    while (!engine.finish_job(job)) {
        // The data loop is behind: let it catch up.
        std::unique_lock lock(mutex_);
        if (changed_.wait_for(lock, std::chrono::milliseconds(1), [&] { return stopping() || abandon_; }))
            return; // nobody will take it any more
    }
    if (counted)
        jobs_.fetch_sub(1, std::memory_order_acq_rel);
    returned_.fetch_add(1, std::memory_order_acq_rel);
    done_.ring();
}

void Worker::note_busy(const Command* job) {
    const JobBuffers buffers = job ? job->job_buffers() : JobBuffers{};
    busy_.assign(buffers.named.begin(), buffers.named.end());
    all_busy_ = buffers.any;
}

bool Worker::left_busy(int32_t buffer) const noexcept {
    return all_busy_ || std::ranges::find(busy_, buffer) != busy_.end();
}

/// Of what is left, jobs go back to the engine undone. Objects are deleted with this one, as a plugin may be in the
/// midst of a job that uses them.
void Worker::end(Run& run) {
    const bool broken = std::exchange(abandon_, false);
    if (run.plugins) {
        run.plugins->stopped = true;
        run.plugins->forgotten = broken;
        note_busy(run.plugins->working ? run.plugins->at : nullptr);
        run.plugins->turn.leave();
        run.plugins->changed.notify_one();
    }
    HandbackList tasks = std::exchange(tasks_, {});
    if (broken) { // what is left is the broken engine's, and stays where it is
        jobs_.store(0, std::memory_order_release);
        return;
    }
    const auto give_back_undone = [&](HandbackList& jobs) {
        while (Handback* job = jobs.pop_front())
            (void)run.engine.finish_job(static_cast<Command*>(job));
    };
    if (run.plugins)
        for (HandbackList* jobs : {&run.plugins->ended, &run.plugins->later_jobs, &run.plugins->first_jobs})
            give_back_undone(*jobs);
    give_back_undone(run.waiting);
    while (Handback* task = tasks.pop_front()) {
        if (task->handed_as == Handback::Kind::job)
            (void)run.engine.finish_job(static_cast<Command*>(task));
        else
            tasks_.push_back(task);
    }
    while (Handback* object = run.releases.take(UINT64_MAX))
        tasks_.push_back(object);
}

} // namespace scs::osc
