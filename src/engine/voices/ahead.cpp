// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/voices/ahead.hpp"

#include "engine/guard/fault-guard.hpp"
#include "engine/nodes/node.hpp"
#include "engine/schedule/long-wait.hpp"
#include "engine/voices/may-batch.hpp"
#include "engine/voices/reaches.hpp"

#include <algorithm>
#include <bit>
#include <span>
#include <utility>

namespace scs {
namespace {

constexpr size_t fewest_jobs = 2;
constexpr size_t sets_per_job = 2; // which are kept, on average: most batches are stereo

constexpr size_t most_at_once = 32; // operations of a job that write at once
constexpr size_t most_draws = 512;  // turns that draw random numbers: to jump over one takes some 50 ns

constexpr int most_unsearched = 32;         // blocks, until voices search for others to be batched with
constexpr int64_t longest_idle = 2'000'000; // ns that a helper waits for work, before it leaves the rest to others, …
constexpr int64_t longest_idle_at_all = 20'000'000; // … unless stages take long
constexpr int most_levels = 16;                     // of groups, below a parallel one
constexpr int unhurried = 3; // a stage takes so many times as long now and then, without having lost its processor
constexpr int pauses_to_others = 128; // some microseconds without its own work, until a thread does what is others' …
constexpr int pauses_at_end = 8;      // … or less than one if little of its own is to come

std::vector<VoiceRunner> runners_for(const Settings& settings, int lanes, Buses& buses, Buffers& buffers,
                                     RandomState* random, Pool& pool, HeldOutput& held) {
    std::vector<VoiceRunner> made;
    made.reserve(size_t(settings.threads));
    for (int i = 0; i < settings.threads; ++i)
        made.emplace_back(settings, lanes, buses, buffers, random, pool, held, nullptr);
    return made;
}

/// Groups far above don't count, as there may be any number of them.
bool in_parallel_group(const Item& one) noexcept {
    const Synth& first = one.batch ? *one.batch->synths[one.batch->first()] : *one.lone;
    const Group* group = first.parent;
    for (int i = 0; group && i < most_levels; ++i, group = group->parent)
        if (group->parallel)
            return true;
    return false;
}

} // namespace

Ahead::Limits Ahead::limits;

size_t Ahead::most_jobs(const Settings& settings) noexcept {
    return size_t(std::clamp(settings.max_nodes / 4, 64, 1024));
}

size_t Ahead::most_turns(const Settings& settings) noexcept {
    return size_t(std::clamp(settings.max_nodes, 64, 4096)); // all are looked at where something has changed
}

Ahead::Ahead(const Settings& settings, Trace& trace, std::shared_ptr<HelperPool> pool_of_helpers, int lanes,
             Buses& buses, Buffers& buffers, RandomState* random, Pool& pool, HeldOutput& held, Deadline& deadline)
    : trace_(trace),
      random_(random),
      held_(held),
      deadline_(deadline),
      gates_(settings),
      found_strands_(settings, most_turns(settings)),
      groups_alone_(settings.parallel == "groups"),
      threads_(settings.threads),
      lanes_(lanes),
      set_floats_(size_t(lanes) * size_t(settings.block_size)),
      runners_(runners_for(settings, lanes, buses, buffers, random, pool, held)),
      jobs_(most_jobs(settings)),
      strands_(jobs_.size()),
      kept_sets_(sets_per_job * jobs_.size()),
      kept_(aligned_zeros<float>(kept_sets_ * set_floats_)),
      turns_(most_turns(settings)),
      draws_(most_draws),
      planned_gates_(jobs_.size()),
      deferred_(jobs_.size()),
      pipeline_(settings, most_turns(settings), lanes, runners_, buses, held, random, jump_, trace, deadline),
      demand_(settings),
      job_list_(jobs_.size()) {
    helpers_ = std::make_unique<Helpers>(
        job_list_, [](void* self, size_t who, size_t job) noexcept { static_cast<Ahead*>(self)->run(who, job); },
        [](void* self, size_t who) noexcept { static_cast<Ahead*>(self)->do_errand(who); }, this,
        Helpers::Settings{
            .threads = threads_ - 1, .lingers = !settings.real_time, .yields = !settings.real_time, .trace = &trace},
        std::move(pool_of_helpers));
}

void Ahead::set_host(void* host, VoiceRunner::DoneAction done_action) noexcept {
    host_ = host;
    done_action_ = done_action;
}

void Ahead::set_sample_rate(double rate) noexcept {
    for (VoiceRunner& runner : runners_)
        runner.set_sample_rate(rate);
    demand_.set_block_nsec(1e9 * runners_.front().rates().control.duration);
}

// ---- cycles and blocks

bool Ahead::end_cycle() noexcept {
    helpers_->end_cycle();
    return demand_.end_cycle(helpers_->urgent());
}

/// The checks that the batch's turn would begin with. What they look at doesn't change before.
bool Ahead::may_open(Batch& batch) noexcept {
    if (!batch.live || batch.stale || batch.mapped)
        return false;
    if (!batch.interleaved)
        return !batch.code->reaches_may_meet || reaches_apart(batch);
    return !batch.pending && batch.checked == batch.synths[batch.first()]->parent->entered && held_.has_spare() &&
           held_.take_slot(batch);
}

bool Ahead::may_open(const Item& one) noexcept {
    if (one.is_graph())
        return false; // what it writes to buses can't be kept
    if (one.batch)
        return one.code().ahead && may_open(*one.batch);
    const Voice& voice = *one.lone->voice;
    return !voice.batch && voice.code->lone_ahead && one.lone->run == Run::on && !voice.maps;
}

/// Whether to hand it over takes less than to compute it.
bool Ahead::is_worth_it(const Item& one) const noexcept {
    return one.batch || (!one.is_graph() && one.code().lone.ops.size() >= limits.fewest_ops);
}

size_t Ahead::work_in(const Item& one) noexcept {
    if (one.is_graph())
        return work_in_graph(*one.lone);
    return one.batch ? 4 * one.code().batch.ops.size() : one.code().lone.ops.size();
}

/// How many random numbers it draws in a block.
uint32_t Ahead::numbers_of(const Item& one) noexcept {
    return one.facts().numbers * uint32_t(one.batch ? std::popcount(one.batch->live) : 1);
}

/// Of one that opens.
Ahead::Need Ahead::need_of(const Item& one) const noexcept {
    const NativeCode& code = one.code();
    if (one.batch)
        return {code.batch_sets, work_in(one), code.batch_keeps.size()};
    return {(code.lone_sets + size_t(lanes_) - 1) / size_t(lanes_), work_in(one), code.lone_keeps.size()};
}

/// How many strands' turns must have begun until all is there that it reads and its own strand doesn't write.
size_t Ahead::gate_for(const Item& one) const noexcept {
    size_t gate = 0;
    for_each_reach(one, [&](const NativeCode::BusUse& use, const BusRange& range, bool) {
        if (!writes(use.effect)) // it is known, as it may be opened
            gate = std::max(gate, gates_.read(use, range));
    });
    return gate;
}

/// What it writes for others than the turns from `first` on and before `end` is there when so many strands' turns have
/// begun.
void Ahead::note_writes(const Item& one, size_t turns, size_t first, size_t end) noexcept {
    for_each_reach(one, [&](const NativeCode::BusUse& use, const BusRange& range, bool known) {
        if (writes(use.effect) && !(known && found_strands_.alone(use, range, first, end)))
            known ? gates_.write(use, range, turns) : gates_.write_unknown(turns);
    });
}

void Ahead::plan(const RenderList& list) noexcept {
    planned_jobs_ = planned_strands_ = planned_gate_count_ = planned_sets_ = planned_work_ = planned_draws_ = 0;
    planned_ = true;
    planned_version_ = list.version();
    size_t drawing = 0;
    bool draws_known = list.complete(), buffers_stay = list.complete();
    const auto opens = [&](const Item& one) noexcept {
        const TurnFacts& facts = one.facts();
        const bool well = (list.complete() || !facts.reads) && (draws_known || !facts.draws) &&
                          (buffers_stay || !facts.reads_buffers) && (!groups_alone_ || in_parallel_group(one)) &&
                          may_open(one);
        if (facts.draws) // what doesn't open may draw another number of them, or none
            draws_known = draws_known && well && ++drawing < most_draws;
        buffers_stay = buffers_stay && !facts.writes_buffers;
        // Slots of held output are others' in the next block.
        planned_ = planned_ && facts.buses_stay && !(one.batch && one.batch->interleaved);
        return well;
    };
    list.complete() && list.reads() ? plan_strands(list.items(), opens) : plan_apart(list.items(), opens);
}

/// Where nobody reads what others write, each turn is a strand of its own. Whenever something has changed, all turns
/// come here. Most are batches of the kind of the one before, so what depends on that alone is asked once.
template <class Opens>
void Ahead::plan_apart(std::span<const Item> items, Opens&& opens) noexcept {
    const NativeCode* simple = nullptr; // a batch of it opens if it is in order itself
    Need need{};
    for (const Item& one : items) {
        if (const Batch* batch = one.batch) {
            const NativeCode* code = batch->code;
            if (code != simple && code->ahead && !code->reads && !code->draws && !code->reads_buffers &&
                code->buses_stay && !code->reaches_may_meet && !groups_alone_) {
                simple = code;
                need = need_of(one);
            }
            if (code == simple && batch->live && !batch->stale && !batch->mapped && !batch->interleaved) {
                (void)open_apart(one, need);
                continue;
            }
        }
        if (opens(one)) {
            const bool opened = is_worth_it(one) && open_apart(one, need_of(one));
            note_draws(one, opened ? int32_t(planned_jobs_ - 1) : -1);
        }
    }
}

template <class Opens>
void Ahead::plan_strands(std::span<const Item> items, Opens&& opens) noexcept {
    gates_.begin_block();
    found_strands_.begin();
    size_t count = 0;
    for (const Item& one : items) {
        turns_[count++] = {one, opens(one)};
        found_strands_.add(one, work_in(one));
    }
    found_strands_.find();
    for (size_t first = 0, end; first < count; first = end) {
        end = found_strands_.end(first);
        if (end > first + 1 && open_strand(first, end))
            continue;
        for (; first < end; ++first)
            if (!is_worth_it(turns_[first].of) || !open_strand(first, first + 1)) {
                note_writes(turns_[first].of, planned_strands_ + 1, first, first + 1);
                if (turns_[first].opens)
                    note_draws(turns_[first].of, -1);
            }
    }
    std::sort(planned_gates_.begin(), planned_gates_.begin() + ptrdiff_t(planned_gate_count_));
}

/// Makes a turn a job where nobody reads what others write.
bool Ahead::open_apart(const Item& one, const Need& need) noexcept {
    if (planned_jobs_ == jobs_.size() || planned_sets_ + need.sets > kept_sets_)
        return false;
    strands_[planned_strands_++] = {uint32_t(planned_jobs_), 1, 0, 0};
    Job& job = new_job(one, need);
    job.at_once = 0;
    job.all_at_once = need.writes == 0;
    return true;
}

/// Makes these turns jobs that are done as one, if they can be.
bool Ahead::open_strand(size_t first, size_t end) noexcept {
    const auto all = std::span(turns_).subspan(first, end - first);
    size_t sets = planned_sets_, gate = 0;
    for (const PlannedTurn& turn : all) {
        if (!turn.opens || (end > first + 1 && !hands_on_well(turn.of, first, end)))
            return false;
        sets += need_of(turn.of).sets;
        if (turn.of.facts().reads)
            gate = std::max(gate, gate_for(turn.of));
    }
    if (planned_jobs_ + all.size() > jobs_.size() || sets > kept_sets_ || gate > planned_strands_ + 1)
        return false;
    if (gate)
        planned_gates_[planned_gate_count_++] = {uint32_t(gate), uint32_t(planned_strands_)};
    strands_[planned_strands_++] = {uint32_t(planned_jobs_), uint32_t(all.size()), 0, 0};
    for (const PlannedTurn& turn : all)
        open_job(turn.of, first, end);
    return true;
}

/// Whether the turn fits into a strand of these: what others of them read it writes at once, and finds what it reads.
bool Ahead::hands_on_well(const Item& one, size_t first, size_t end) const noexcept {
    if (one.batch && one.batch->interleaved)
        return false;
    bool well = true;
    size_t writes_so_far = 0;
    for_each_reach(one, [&](const NativeCode::BusUse& use, const BusRange& range, bool) {
        const bool alone = found_strands_.alone(use, range, first, end);
        if (writes(use.effect))
            well =
                well && writes_so_far++ < most_at_once && (alone || !found_strands_.any_alone(use, range, first, end));
        else
            well = well && (alone || !found_strands_.may_write(use, range, first, end));
    });
    return well;
}

/// A job of the last strand.
Ahead::Job& Ahead::new_job(const Item& one, const Need& need) noexcept {
    Job& job = jobs_[planned_jobs_++];
    job.of = one;
    job.strand = uint32_t(planned_strands_ - 1);
    job.kept = kept_.get() + planned_sets_ * set_floats_;
    planned_sets_ += need.sets;
    planned_work_ += need.work;
    return job;
}

void Ahead::open_job(const Item& one, size_t first, size_t end) noexcept {
    const Need need = need_of(one);
    Job& job = new_job(one, need);
    job.at_once = 0;
    size_t write = 0, now = 0;
    if (end > first + 1)
        for_each_reach(one, [&](const NativeCode::BusUse& use, const BusRange& range, bool known) {
            if (!writes(use.effect))
                return;
            if (known && found_strands_.alone(use, range, first, end)) {
                job.at_once |= 1u << write;
                ++now;
            }
            ++write;
        });
    job.all_at_once = now == need.writes;
    note_writes(one, planned_strands_ + 1, first, end);
    note_draws(one, int32_t(planned_jobs_ - 1));
}

void Ahead::note_draws(const Item& one, int32_t job) noexcept {
    if (one.facts().draws)
        draws_[planned_draws_++] = {job, numbers_of(one)};
}

/// Tells the jobs where the generator is when their turns come.
void Ahead::foresee_draws() noexcept {
    RandomState random = *random_;
    for (const Draw& draw : std::span(draws_).first(planned_draws_)) {
        if (draw.job >= 0)
            jobs_[size_t(draw.job)].random = random;
        random = jump_(random, draw.numbers);
    }
}

void Ahead::open_block(int32_t number, const RenderList& list) noexcept {
    opened_ = true;
    since_search_ = std::exchange(unsearched_, 0) + 1;
    count_ = reached_ = taken_count_ = by_helpers_ = by_walk_ = 0;
    // A walk among blocks that had none is the data loop's alone: all voices search for partners in it, for which
    // batches must not be others' to write.
    if (since_search_ > 1) {
        job_list_.open(0, 0);
        return;
    }
    if (!planned_ || planned_version_ != list.version())
        plan(list);
    fulfil_plan(number);
}

void Ahead::fulfil_plan(int32_t number) noexcept {
    if (planned_strands_ < fewest_jobs || planned_work_ < limits.least_work) {
        for (const Job& job : std::span(jobs_).first(planned_jobs_))
            if (job.of.batch)
                held_.free_slot(*job.of.batch);
        job_list_.open(0, 0);
        return;
    }
    count_ = planned_strands_;
    for (size_t i = 0; i < planned_jobs_; ++i) {
        jobs_[i].over = false;
        jobs_[i].of.place().job = int32_t(i);
    }
    for (const auto& [gate, strand] : std::span(planned_gates_).first(planned_gate_count_))
        job_list_.gate(strand, gate);
    foresee_draws();
    for (VoiceRunner& runner : runners_)
        runner.begin_block(number);
    float_mode_ = float_mode();
    stops_.store(false, std::memory_order_relaxed);
    job_list_.open(count_, size_t(share_ * double(count_)));
    helpers_->begin_round();
}

void Ahead::close_block() noexcept {
    if (std::exchange(opened_, false))
        close_plan();
    demand_.end_walk();
}

void Ahead::close_plan() noexcept {
    flush();
    if (count_ && taken_count_ < planned_jobs_)
        give_up();
    else if (count_) {
        const double found = double(by_helpers_ - std::min(by_helpers_, by_walk_));
        share_ += (1 - found / double(count_) - share_) / 4;
    }
    count_ = 0;
}

/// Jobs that were done have gone on by a block, which nobody hears. But who was to end must end.
void Ahead::give_up() noexcept {
    stops_.store(true, std::memory_order_relaxed);
    const auto left = [this](size_t i) { return !jobs_[strands_[i].first].over; }; // its turn hasn't begun
    for (size_t i = 0; i < count_; ++i)
        if (left(i) && job_list_.take(i))
            strands_[i].computed = 0;
    for (size_t i = 0; i < count_; ++i)
        if (left(i) && job_list_.begun(i)) {
            wait_for(i);
            job_list_.settle(i);
        }
    for (size_t i = 0; i < planned_jobs_; ++i) {
        Job& job = jobs_[i];
        if (job.over)
            continue;
        let_go(job);
        if (const Strand& strand = strands_[job.strand]; i - strand.first < strand.computed)
            perform(job);
    }
}

void Ahead::let_go(Job& job) noexcept {
    job.of.place().job = -1;
    job.over = true;
    if (job.of.batch)
        held_.free_slot(*job.of.batch);
}

// ---- blocks in place of walks

bool Ahead::plan_pipeline(int blocks, const RenderList& list) noexcept {
    if (!list.whole())
        return false;
    if (list.version() != pipeline_version_ || pipeline_.outdated()) {
        pipeline_fits_ = pipeline_.plan(list.items());
        pipeline_version_ = list.version();
    }
    return pipeline_fits_ && pipeline_.work_at_a_time(blocks) >= limits.least_pipelined;
}

bool Ahead::may_run_blocks() const noexcept {
    return !groups_alone_;
}

bool Ahead::search_is_due(const RenderList& list) const noexcept {
    return may_run_blocks() && unsearched_ >= most_unsearched && list.whole();
}

int Ahead::run_blocks(int32_t first, int blocks, const BlockInputs& inputs, const RenderList& list) noexcept {
    if (!may_run_blocks() || !plan_pipeline(blocks, list))
        return -1;
    const int64_t began = clock_.now();
    unsearched_ += blocks;
    float_mode_ = float_mode();
    pipeline_.open(first, blocks, inputs);
    pipelining_ = true;
    job_list_.open(size_t(threads_) - 1, 0);
    helpers_->begin_round();
    const int64_t waited = drive_pipeline();
    for (size_t job = 0; job + 1 < size_t(threads_); ++job)
        if (!job_list_.take(job)) {
            wait_for(job);
            job_list_.settle(job);
        }
    pipelining_ = false;
    helpers_->stay();
    demand_.note_wait(waited - unhurried * pipeline_.usual_wait());
    demand_.note_blocks(blocks, clock_.now() - began);
    return pipeline_.close();
}

/// `idle`: how often it has found nothing so far, which it counts.
bool Ahead::step_pipeline(size_t who, int& idle) noexcept {
    return pipeline_.step(who, idle++ >= (pipeline_.near_end(who) ? pauses_at_end : pauses_to_others));
}

/// The walk's thread does its part, and that of helpers who don't come. Returns how long it has waited at a time, ns.
int64_t Ahead::drive_pipeline() noexcept {
    int64_t waited = 0;
    for (bool goes_on = true; goes_on;) {
        LongWait wait(*helpers_);
        int idle = 0;
        while (!helpers_->wait_briefly([&] {
            goes_on = step_pipeline(0, idle);
            return goes_on || pipeline_.over();
        })) {
            wait.go_on();
            waited = std::max(waited, wait.nsec());
            if (is_late())
                pipeline_.stop();
        }
        FaultGuard::progress();
        if (is_late())
            pipeline_.stop();
    }
    return waited;
}

/// Whoever has begun what this helper waits for may have no processor, and if that is this one's, gets none as long as
/// it waits.
void Ahead::help_pipeline(size_t who) noexcept {
    set_float_mode(float_mode_);
    const int64_t patience = std::clamp(unhurried * pipeline_.expected_wait(), longest_idle, longest_idle_at_all);
    int64_t until = clock_.now() + patience;
    int idle = 0;
    for (bool goes_on = true; goes_on && !failed();) {
        FaultGuard::progress();
        const bool found = helpers_->wait_briefly([&] {
            goes_on = step_pipeline(who, idle);
            return goes_on || pipeline_.over();
        });
        if (!found && clock_.now() > until)
            return;
        if (found) {
            idle = 0;
            until = clock_.now() + patience;
        }
        goes_on = goes_on || !found;
    }
}

// ---- jobs

void Ahead::Job::note(int lane, int action) noexcept {
    const auto noted = std::span(actions).first(action_count);
    const auto same = [&](const Action& a) { return a.lane == lane && a.action == action; };
    if ((action == 1 || action == 2) && std::none_of(noted.begin(), noted.end(), same))
        actions[action_count++] = {uint8_t(lane), uint8_t(action)};
}

void Ahead::run(size_t who, size_t number) noexcept {
    if (pipelining_)
        return help_pipeline(who);
    Strand& strand = strands_[number];
    strand.who = uint32_t(who);
    strand.computed = 0;
    const auto compute_all = [&] {
        for (Job& job : std::span(jobs_).subspan(strand.first, strand.count)) {
            FaultGuard::progress();
            compute(runners_[who], job);
            ++strand.computed;
            if (stops_.load(std::memory_order_relaxed) || (who == 0 && is_late()))
                return;
        }
    };
    if (who == 0) {
        ++by_walk_;
        compute_all();
        return;
    }
    set_float_mode(float_mode_);
    compute_all();
    computed_.fetch_add(strand.computed, std::memory_order_relaxed);
}

void Ahead::compute(VoiceRunner& runner, Job& job) noexcept {
    const int64_t traced = trace_.begin();
    job.action_count = 0;
    runner.draw_from(job.random);
    runner.set_host(&job, [](void* noting, Synth& synth, int action) {
        static_cast<Job*>(noting)->note(synth.voice->lane, action);
    });
    if (job.of.batch)
        runner.run_ahead(*job.of.batch, job.kept, job.at_once);
    else
        runner.run_ahead(*job.of.lone, job.kept, job.at_once);
    trace_.end(size_t(&runner - runners_.data()), TraceKind::job, traced, job.of.voices(), job.of.code().name);
}

void Ahead::defer() noexcept {
    if (deferred_count_ && strands_[deferred_[0]->strand].who != strands_[taken_->strand].who)
        flush();
    deferred_[deferred_count_++] = taken_;
}

void Ahead::add_deferred() noexcept {
    if (const size_t who = strands_[deferred_[0]->strand].who) {
        LongWait wait(*helpers_);
        const int64_t traced = trace_.begin();
        helpers_->send(who);
        while (!helpers_->back())
            wait.go_on();
        trace_.end(0, TraceKind::wait, traced);
        demand_.note_wait(wait.nsec());
    } else {
        do_errand(0);
    }
    deferred_count_ = 0;
}

void Ahead::do_errand(size_t who) noexcept {
    const int64_t traced = trace_.begin();
    if (who != 0)
        set_float_mode(float_mode_);
    for (const Job* job : std::span(deferred_).first(deferred_count_))
        runners_[who].run_kept(*job->of.batch, job->kept, job->at_once);
    trace_.end(who, TraceKind::write, traced, int32_t(deferred_count_));
}

void Ahead::perform(const Job& job) noexcept {
    for (const Job::Action& each : std::span(job.actions).first(job.action_count))
        if (!job.of.batch)
            done_action_(host_, *job.of.lone, each.action);
        else if (job.of.batch->live >> each.lane & 1u)
            done_action_(host_, *job.of.batch->synths[each.lane], each.action);
}

/// Whether the deadline has passed, in the midst of a turn.
bool Ahead::is_late() noexcept {
    const bool late = deadline_.spend(Deadline::unknown);
    (void)deadline_.just_read(); // no turn begins here
    return late;
}

void Ahead::wait_for(size_t job) noexcept {
    if (helpers_->wait_for(job))
        return;
    LongWait wait(*helpers_);
    const int64_t traced = trace_.begin();
    while (!helpers_->wait_for(job)) {
        wait.go_on();
        if (is_late())
            stops_.store(true, std::memory_order_relaxed);
    }
    trace_.end(0, TraceKind::wait, traced);
    demand_.note_wait(wait.nsec());
}

Ahead::Turn Ahead::take(Item one) noexcept {
    const auto number = size_t(std::exchange(one.place().job, -1));
    Job& job = jobs_[number];
    Strand& strand = strands_[job.strand];
    if (number == strand.first) {
        reached_ = job.strand + 1;
        if (job_list_.take(job.strand)) {
            strand.computed = 0;
        } else {
            wait_for(job.strand);
            job_list_.settle(job.strand);
            ++by_helpers_;
        }
    }
    job.over = true;
    ++taken_count_;
    if (number - strand.first >= strand.computed)
        return Turn::to_compute;
    taken_ = &job;
    if (one.facts().draws)
        *random_ = job.random;
    perform(job);
    if (!job.all_at_once)
        return Turn::computed;
    if (!deferred_count_)
        helpers_->pass(reached_);
    return Turn::written;
}

} // namespace scs
