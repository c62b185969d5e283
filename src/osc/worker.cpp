// SPDX-License-Identifier: GPL-3.0-or-later
#include "osc/worker.hpp"

#include "engine/engine.hpp"

#include <chrono>
#include <utility>

namespace scs::osc {

Worker::~Worker() {
    while (first_) {
        Handback* task = std::exchange(first_, first_->next_handback);
        if (task->handed_as == Handback::Kind::release)
            delete task;
    }
}

void Worker::add(Handback* task) noexcept {
    if (task->handed_as == Handback::Kind::job)
        jobs_.fetch_add(1, std::memory_order_acq_rel);
    {
        const std::lock_guard lock(mutex_);
        task->next_handback = nullptr;
        (first_ ? last_->next_handback : first_) = task;
        last_ = task;
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
    while (true) {
        Handback* task;
        {
            std::unique_lock lock(mutex_);
            const auto any = [&] { return stopping() || abandon_ || first_; };
            while (engine.memory_grows() && !changed_.wait_for(lock, std::chrono::milliseconds(100), any)) {
                lock.unlock();
                engine.keep_memory_ahead();
                lock.lock();
            }
            changed_.wait(lock, any);
            if (std::exchange(abandon_, false)) {
                first_ = nullptr; // the broken engine's, which stay where they are
                jobs_.store(0, std::memory_order_release);
                return;
            }
            if (!first_)
                return;
            task = std::exchange(first_, first_->next_handback);
        }
        if (task->handed_as == Handback::Kind::job) {
            do_job(engine, static_cast<Command*>(task));
            if (engine.memory_grows())
                engine.keep_memory_ahead();
        } else
            delete task;
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
