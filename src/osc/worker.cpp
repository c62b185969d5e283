// SPDX-License-Identifier: GPL-3.0-or-later
#include "osc/worker.hpp"

#include "engine/engine.hpp"

#include <chrono>
#include <utility>

namespace scs::osc {

Worker::~Worker() {
    for (const Task& task : tasks_)
        delete task.release;
}

void Worker::add(Task task) {
    {
        const std::lock_guard lock(mutex_);
        tasks_.push_back(task);
    }
    changed_.notify_one();
}

void Worker::add_job(Command* job) {
    jobs_.fetch_add(1, std::memory_order_acq_rel);
    add({job, nullptr});
}

void Worker::add_release(Handback* object) {
    add({nullptr, object});
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
    while (true) {
        Task task;
        {
            std::unique_lock lock(mutex_);
            changed_.wait(lock, [&] { return stopping() || abandon_ || !tasks_.empty(); });
            if (std::exchange(abandon_, false)) {
                tasks_.clear(); // the broken engine's, which stay where they are
                jobs_.store(0, std::memory_order_release);
                return;
            }
            if (tasks_.empty())
                return;
            task = tasks_.front();
            tasks_.pop_front();
        }
        delete task.release;
        if (task.job)
            do_job(engine, task.job);
    }
}

void Worker::do_job(Engine& engine, Command* job) {
    if (!stopping())
        job->work();
    while (!engine.finish_job(job)) {
        // The data loop is behind: let it catch up.
        std::unique_lock lock(mutex_);
        if (changed_.wait_for(lock, std::chrono::milliseconds(1), [&] { return stopping() || abandon_; }))
            return; // nobody will take it any more
    }
    jobs_.fetch_sub(1, std::memory_order_acq_rel);
    done_.ring();
}

} // namespace scs::osc
