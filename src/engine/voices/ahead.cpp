// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/voices/ahead.hpp"

#include "engine/guard/fault-guard.hpp"
#include "engine/nodes/node.hpp"
#include "engine/voices/may-batch.hpp"

#include <algorithm>
#include <span>
#include <utility>

namespace scs {
namespace {

constexpr size_t fewest_jobs = 4;  // fewer aren't worth it to tell helpers of them
constexpr size_t sets_per_job = 2; // which are kept, on average: most batches are stereo

// Offline: in each period, so many cycles with helpers and as many without show what is faster for the rest of it.
constexpr int trial = 32, trial_period = 512; // cycles
constexpr double rest_after_wait = 1e9;       // ns of sound

} // namespace

Ahead::Limits Ahead::limits;

size_t Ahead::most_jobs(const Settings& settings) noexcept {
    return size_t(std::clamp(settings.max_nodes / 4, 64, 1024));
}

Ahead::Ahead(const Settings& settings, AheadList& list, std::shared_ptr<ThreadMaker> maker, int lanes, Buses& buses,
             Buffers& buffers, RandomState* random, Pool& pool, HeldOutput& held, Deadline& deadline)
    : list_(list),
      held_(held),
      real_time_(settings.real_time),
      threads_(settings.threads),
      set_floats_(size_t(lanes) * size_t(settings.block_size)),
      jobs_(most_jobs(settings)),
      kept_sets_(sets_per_job * jobs_.size()),
      kept_(aligned_zeros<float>(kept_sets_ * set_floats_)),
      deferred_(jobs_.size()),
      job_list_(jobs_.size()) {
    runners_.reserve(size_t(threads_));
    for (int i = 0; i < threads_; ++i)
        runners_.emplace_back(settings, lanes, buses, buffers, random, pool, held, deadline);
    helpers_ = std::make_unique<Helpers>(
        job_list_, [](void* self, size_t who, size_t job) noexcept { static_cast<Ahead*>(self)->run(who, job); },
        [](void* self, size_t who) noexcept { static_cast<Ahead*>(self)->do_errand(who); }, this,
        Helpers::Settings{.threads = threads_ - 1, .lingers = !real_time_, .yields = !real_time_}, std::move(maker));
}

void Ahead::set_host(void* host, VoiceRunner::DoneAction done_action) noexcept {
    host_ = host;
    done_action_ = done_action;
}

void Ahead::set_sample_rate(double rate) noexcept {
    for (VoiceRunner& runner : runners_)
        runner.set_sample_rate(rate);
    block_nsec_ = 1e9 * runners_.front().rates().control.duration;
}

// ---- cycles and blocks

bool Ahead::worthwhile() const noexcept {
    if (rest_nsec_ > 0)
        return false;
    // With helpers the load is smaller.
    const double waking = limits.waking_load, sleeping = waking / (2 * threads_);
    return real_time_ || waking == 0 ? load_ >= (helped_ ? sleeping : waking) : pays_;
}

void Ahead::end_cycle() noexcept {
    helpers_->end_cycle();
    if (!blocks_)
        return;
    load_ += (double(spent_) / (blocks_ * block_nsec_) - load_) / 8;
    rest_nsec_ = longest_wait_ > limits.longest_wait ? rest_after_wait : rest_nsec_ - blocks_ * block_nsec_;
    longest_wait_ = 0;
    helped_ = worthwhile();
    try_out();
    spent_ = blocks_ = 0;
}

void Ahead::try_out() noexcept {
    if (cycle_ < 2 * trial)
        trial_nsec_[cycle_ < trial] += spent_;
    cycle_ = (cycle_ + 1) % trial_period;
    if (cycle_ == 0)
        trial_nsec_ = {};
    pays_ = cycle_ < trial || (cycle_ >= 2 * trial && trial_nsec_[true] < trial_nsec_[false]);
}

/// The checks that the batch's turn would begin with. What they look at doesn't change before.
bool Ahead::may_open(Batch& batch) noexcept {
    if (!batch.live || batch.stale || batch.mapped)
        return false;
    if (!batch.interleaved)
        return batch.code->bus_uses.empty() || reaches_apart(batch);
    return !batch.pending && batch.checked == batch.synths[batch.first()]->parent->entered && held_.has_spare() &&
           held_.take_slot(batch);
}

void Ahead::open_block(int32_t number) noexcept {
    began_ = clock_.now();
    const std::span<Batch* const> listed = list_.take();
    count_ = taken_count_ = by_helpers_ = by_walk_ = 0;
    if (!worthwhile())
        return;
    size_t sets = 0;
    for (Batch* batch : listed) {
        if (!batch || sets + batch->code->sets > kept_sets_ || !may_open(*batch))
            continue;
        batch->job = int32_t(count_);
        Job& job = jobs_[count_++];
        job.batch = batch;
        job.kept = kept_.get() + sets * set_floats_;
        sets += batch->code->sets;
    }
    if (count_ < fewest_jobs) {
        for (size_t i = 0; i < count_; ++i)
            let_go(jobs_[i]);
        count_ = 0;
        return;
    }
    for (VoiceRunner& runner : runners_)
        runner.begin_block(number);
    float_mode_ = float_mode();
    job_list_.open(count_, size_t(share_ * double(count_)));
    helpers_->begin_round();
}

void Ahead::close_block() noexcept {
    flush();
    if (taken_count_ < count_) {
        for (size_t i = 0; i < count_; ++i)
            if (jobs_[i].batch && job_list_.take(i))
                let_go(jobs_[i]);
        // These have gone on by a block, which nobody hears. But who was to end must end.
        for (size_t i = 0; i < count_; ++i)
            if (Batch* batch = jobs_[i].batch) {
                wait_for(i);
                job_list_.settle(i);
                let_go(jobs_[i]);
                perform(jobs_[i], *batch);
            }
    } else if (count_) {
        const double found = double(by_helpers_ - std::min(by_helpers_, by_walk_));
        share_ += (1 - found / double(count_) - share_) / 4;
    }
    count_ = taken_count_ = 0;
    spent_ += clock_.now() - began_;
    ++blocks_;
}

void Ahead::let_go(Job& job) noexcept {
    job.batch->job = -1;
    held_.free_slot(*job.batch);
    job.batch = nullptr;
}

// ---- jobs

void Ahead::Job::note(int lane, int action) noexcept {
    const auto noted = std::span(actions).first(action_count);
    const auto same = [&](const Action& a) { return a.lane == lane && a.action == action; };
    if ((action == 1 || action == 2) && std::none_of(noted.begin(), noted.end(), same))
        actions[action_count++] = {uint8_t(lane), uint8_t(action)};
}

void Ahead::run(size_t who, size_t number) noexcept {
    Job& job = jobs_[number];
    VoiceRunner& runner = runners_[who];
    job.action_count = 0;
    job.who = uint32_t(who);
    runner.set_host(&job, [](void* noting, Synth& synth, int action) {
        static_cast<Job*>(noting)->note(synth.voice->lane, action);
    });
    if (who == 0) {
        ++by_walk_;
        runner.run_ahead(*job.batch, job.kept);
        return;
    }
    set_float_mode(float_mode_);
    if (!FaultGuard::run_host([&] { runner.run_ahead(*job.batch, job.kept); }))
        failed_.store(true, std::memory_order_relaxed);
}

void Ahead::defer(Batch& batch) noexcept {
    if (deferred_count_ && deferred_[0]->who != taken_->who)
        flush();
    taken_->deferred = &batch;
    deferred_[deferred_count_++] = taken_;
}

void Ahead::add_deferred() noexcept {
    if (const size_t who = deferred_[0]->who) {
        const int64_t since = clock_.now();
        helpers_->send(who);
        while (!helpers_->back())
            FaultGuard::progress();
        longest_wait_ = std::max(longest_wait_, clock_.now() - since);
    } else {
        do_errand(0);
    }
    deferred_count_ = 0;
}

void Ahead::do_errand(size_t who) noexcept {
    const auto add = [&] {
        for (const Job* job : std::span(deferred_).first(deferred_count_))
            runners_[who].run_kept(*job->deferred, job->kept);
    };
    if (who == 0)
        return add();
    set_float_mode(float_mode_);
    if (!FaultGuard::run_host(add))
        failed_.store(true, std::memory_order_relaxed);
}

void Ahead::perform(const Job& job, Batch& batch) noexcept {
    for (const Job::Action& each : std::span(job.actions).first(job.action_count))
        if (batch.live >> each.lane & 1u)
            done_action_(host_, *batch.synths[each.lane], each.action);
}

void Ahead::wait_for(size_t job) noexcept {
    if (helpers_->wait_for(job))
        return;
    const int64_t since = clock_.now();
    while (!helpers_->wait_for(job))
        FaultGuard::progress();
    longest_wait_ = std::max(longest_wait_, clock_.now() - since);
}

bool Ahead::take(Batch& batch) noexcept {
    const auto number = size_t(std::exchange(batch.job, -1));
    Job& job = jobs_[number];
    ++taken_count_;
    const bool begun = !job_list_.take(number);
    if (begun) {
        wait_for(number);
        job_list_.settle(number);
    }
    job.batch = nullptr; // not before, as a helper may just be reading it
    if (!begun)
        return false;
    ++by_helpers_;
    taken_ = &job;
    perform(job, batch);
    return true;
}

} // namespace scs
