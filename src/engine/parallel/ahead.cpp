// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/parallel/ahead.hpp"

#include "engine/guard/fault-guard.hpp"
#include "engine/nodes/node.hpp"
#include "engine/schedule/long-wait.hpp"

#include <algorithm>
#include <span>
#include <utility>

namespace scs {
namespace {

constexpr int most_unsearched = 32;                 // blocks, until voices search for others to be batched with
constexpr int64_t longest_idle = 2'000'000;         // ns that a helper waits for a stage, before it sleeps, …
constexpr int64_t longest_idle_at_all = 20'000'000; // … unless stages take long
constexpr int unhurried = 3; // a stage takes this many times as long now and then, without having lost its processor

std::vector<VoiceRunner> runners_for(const Settings& settings, int lanes, Buses& buses, Buffers& buffers,
                                     RandomState* random, Pool& pool, HeldOutput& held) {
    std::vector<VoiceRunner> made;
    made.reserve(size_t(settings.threads));
    for (int i = 0; i < settings.threads; ++i)
        made.emplace_back(settings, lanes, buses, buffers, random, pool, held, nullptr);
    return made;
}

} // namespace

size_t Ahead::most_items(const Settings& settings) noexcept {
    return size_t(std::clamp(settings.max_nodes, 64, 4096)); // all are looked at where something has changed
}

Ahead::Ahead(const Settings& settings, Trace& trace, std::shared_ptr<HelperPool> pool_of_helpers, int lanes,
             Buses& buses, Buffers& buffers, RandomState* random, Pool& pool, HeldOutput& held, Deadline& deadline,
             Costs& costs)
    : trace_(trace),
      random_(random),
      held_(held),
      deadline_(deadline),
      dependencies_(settings, most_items(settings)),
      groups_alone_(settings.parallel == "groups"),
      threads_(settings.threads),
      governor_(settings),
      runners_(runners_for(settings, lanes, buses, buffers, random, pool, held)),
      plan_(settings, most_items(settings), lanes, dependencies_, held, jump_, governor_),
      graph_(plan_.most_strands(), size_t(threads_)),
      deferred_(plan_.most_strands()),
      pipeline_(settings, most_items(settings), lanes, runners_, dependencies_, buses, held, random, jump_, trace,
                deadline, costs, graph_) {
    helpers_ = std::make_unique<Helpers>(
        graph_,
        [](void* self, size_t thread, TaskGraph::Task task) noexcept { static_cast<Ahead*>(self)->run(thread, task); },
        [](void* self, size_t thread) noexcept { static_cast<Ahead*>(self)->do_errand(thread); }, this,
        Helpers::Settings{.threads = threads_ - 1,
                          .lingers = !settings.real_time,
                          .yields = !settings.real_time,
                          .trace = &trace,
                          .policy = &HelpPolicy::of(settings.help)},
        std::move(pool_of_helpers));
}

void Ahead::set_host(void* host, VoiceRunner::DoneAction done_action) noexcept {
    host_ = host;
    done_action_ = done_action;
}

void Ahead::set_listener(SynthListener& listener) noexcept {
    for (VoiceRunner& runner : runners_)
        runner.set_listener(listener);
}

void Ahead::set_sample_rate(double rate) noexcept {
    for (VoiceRunner& runner : runners_)
        runner.set_sample_rate(rate);
    governor_.set_block_nsec(1e9 * runners_.front().rates().control.duration);
}

// ---- cycles and blocks

bool Ahead::end_cycle() noexcept {
    helpers_->end_cycle();
    return governor_.end_cycle(helpers_->urgent());
}

void Ahead::open_block(int32_t number, const RenderList& list) noexcept {
    opened_ = true;
    since_search_ = std::exchange(unsearched_, 0) + 1;
    count_ = reached_ = taken_count_ = by_helpers_ = by_walk_ = 0;
    // A walk among blocks that had none is the data loop's alone: all voices search for partners in it, for which
    // batches must not be others' to write.
    if (since_search_ > 1) {
        graph_.open_strands(0, 0);
        return;
    }
    if (!plan_.holds_for(list))
        plan_.make(list);
    fulfil_plan(number);
}

void Ahead::fulfil_plan(int32_t number) noexcept {
    const std::span<PlannedItem> items = plan_.items();
    if (!governor_.asks_for(plan_.strands().size(), plan_.work())) {
        for (const PlannedItem& item : items)
            if (item.of.batch)
                held_.free_slot(*item.of.batch);
        graph_.open_strands(0, 0);
        return;
    }
    count_ = plan_.strands().size();
    for (size_t i = 0; i < items.size(); ++i) {
        items[i].over = false;
        items[i].of.place().planned = int32_t(i);
    }
    for (const auto& [gate, strand] : plan_.gates())
        graph_.gate(strand, gate);
    plan_.foresee_draws(*random_);
    for (VoiceRunner& runner : runners_)
        runner.begin_block(number);
    float_mode_ = float_mode();
    stops_.store(false, std::memory_order_relaxed);
    graph_.open_strands(count_, size_t(share_ * double(count_)));
    helpers_->begin_round();
}

void Ahead::close_block() noexcept {
    if (std::exchange(opened_, false))
        close_plan();
    governor_.end_walk();
}

void Ahead::close_plan() noexcept {
    flush();
    if (count_ && taken_count_ < plan_.items().size())
        give_up();
    else if (count_) {
        const double found = double(by_helpers_ - std::min(by_helpers_, by_walk_));
        share_ += (1 - found / double(count_) - share_) / 4;
    }
    count_ = 0;
}

/// Items that were done have gone on by a block, which nobody hears. But what was to end must end.
void Ahead::give_up() noexcept {
    stops_.store(true, std::memory_order_relaxed);
    const std::span<PlannedItem> items = plan_.items();
    const std::span<Strand> strands = plan_.strands();
    const auto left = [&](size_t i) { return !items[strands[i].first].over; }; // its turn hasn't begun
    for (size_t i = 0; i < count_; ++i)
        if (left(i))
            (void)graph_.close(i);
    for (size_t i = 0; i < count_; ++i)
        if (left(i))
            (void)close(i);
    for (size_t i = 0; i < items.size(); ++i) {
        PlannedItem& item = items[i];
        if (item.over)
            continue;
        let_go(item);
        if (const Strand& strand = strands[item.strand]; i - strand.first < strand.computed)
            perform(item);
    }
}

void Ahead::write_kept(size_t thread, const PlannedItem& item) noexcept {
    if (item.of.batch)
        runners_[thread].run_kept(*item.of.batch, item.kept, item.at_once);
    else
        runners_[thread].run_kept(*item.of.lone, item.kept, item.at_once);
}

void Ahead::let_go(PlannedItem& item) noexcept {
    item.of.place().planned = -1;
    item.over = true;
    if (item.of.batch)
        held_.free_slot(*item.of.batch);
}

// ---- blocks in place of walks

bool Ahead::plan_pipeline(int blocks, const RenderList& list) noexcept {
    if (groups_alone_ || !list.whole())
        return false;
    if (list.version() != pipeline_version_ || pipeline_.outdated()) {
        pipeline_fits_ = pipeline_.plan(list.items());
        pipeline_version_ = list.version();
    }
    return pipeline_fits_ && governor_.asks_at_once(pipeline_.work_at_a_time(blocks));
}

bool Ahead::search_is_due(const RenderList& list) noexcept {
    const bool due = !groups_alone_ && unsearched_ >= most_unsearched && list.whole();
    unsearched_ = due ? 0 : unsearched_;
    return due;
}

int Ahead::run_blocks(int32_t first, int blocks, const BlockInputs& inputs, const RenderList& list) noexcept {
    if (!plan_pipeline(blocks, list))
        return -1;
    const int64_t began = clock_.now();
    unsearched_ += blocks;
    float_mode_ = float_mode();
    pipelining_ = true;
    pipeline_.open(first, blocks, inputs);
    // A thread that has begun what a helper waits for may have no processor, and if that is the helper's, gets none as
    // long as it waits.
    helpers_->begin_round(std::clamp(unhurried * pipeline_.expected_wait(), longest_idle, longest_idle_at_all));
    const int64_t waited = drive_pipeline();
    for (size_t stage = 0; stage < pipeline_.stages(); ++stage)
        wait_for(stage);
    pipelining_ = false;
    helpers_->stay();
    governor_.note_wait(waited - unhurried * pipeline_.usual_wait());
    governor_.note_blocks(blocks, clock_.now() - began);
    return pipeline_.close();
}

/// The walk's thread does its part, and that of helpers that don't come. Returns how long it has waited at a time, ns.
int64_t Ahead::drive_pipeline() noexcept {
    int64_t waited = 0;
    while (graph_.stages_left()) {
        LongWait wait(*helpers_);
        while (!helpers_->wait_briefly([this] { return helpers_->do_task() || !graph_.stages_left(); })) {
            wait.go_on();
            waited = std::max(waited, wait.nsec());
            if (is_late())
                graph_.stop();
        }
        FaultGuard::progress();
        if (is_late())
            graph_.stop();
    }
    return waited;
}

// ---- items

void Ahead::run(size_t thread, TaskGraph::Task task) noexcept {
    if (thread)
        set_float_mode(float_mode_);
    if (pipelining_)
        return pipeline_.run(thread, task.chain, task.block);
    Strand& strand = plan_.strand(task.chain);
    strand.thread = uint32_t(thread);
    strand.computed = 0;
    const auto compute_all = [&] {
        for (PlannedItem& item : plan_.items_of(strand)) {
            FaultGuard::progress();
            compute(runners_[thread], item);
            ++strand.computed;
            if (stops_.load(std::memory_order_relaxed) || (thread == 0 && is_late()))
                return;
        }
    };
    if (thread == 0) {
        ++by_walk_;
        compute_all();
        return;
    }
    compute_all();
    computed_.fetch_add(strand.computed, std::memory_order_relaxed);
}

void Ahead::compute(VoiceRunner& runner, PlannedItem& item) noexcept {
    const int64_t traced = trace_.begin();
    item.action_count = 0;
    item.done = {};
    runner.draw_from(item.random);
    runner.set_host(&item, [](void* noting, Synth& synth, int action)
                               SCS_NONBLOCKING { static_cast<PlannedItem*>(noting)->note(synth.voice->lane, action); });
    if (item.of.batch)
        runner.run_ahead(*item.of.batch, item.kept, item.at_once);
    else
        runner.run_ahead(*item.of.lone, item.kept, item.at_once);
    trace_.end(size_t(&runner - runners_.data()), TraceKind::job, traced, item.of.voices(), item.of.code().name);
}

void Ahead::defer() noexcept {
    if (deferred_count_ && plan_.strand(deferred_[0]->strand).thread != plan_.strand(taken_->strand).thread)
        flush();
    deferred_[deferred_count_++] = taken_;
}

void Ahead::add_deferred() noexcept {
    if (const size_t thread = plan_.strand(deferred_[0]->strand).thread) {
        LongWait wait(*helpers_);
        const int64_t traced = trace_.begin();
        helpers_->send(thread);
        while (!helpers_->back())
            wait.go_on();
        trace_.end(0, TraceKind::wait, traced);
        governor_.note_wait(wait.nsec());
    } else {
        do_errand(0);
    }
    deferred_count_ = 0;
}

void Ahead::do_errand(size_t thread) noexcept {
    const int64_t traced = trace_.begin();
    if (thread != 0)
        set_float_mode(float_mode_);
    for (const PlannedItem* item : std::span(deferred_).first(deferred_count_))
        write_kept(thread, *item);
    trace_.end(thread, TraceKind::write, traced, int32_t(deferred_count_));
}

void Ahead::perform(const PlannedItem& item) noexcept {
    for (const PlannedItem::Action& each : std::span(item.actions).first(item.action_count))
        if (!item.of.batch)
            done_action_(host_, *item.of.lone, each.action);
        else if (item.of.batch->live >> each.lane & 1u)
            done_action_(host_, *item.of.batch->synths[each.lane], each.action);
}

/// Whether the deadline has passed, in the midst of a turn.
bool Ahead::is_late() noexcept {
    const bool late = deadline_.spend(Deadline::unknown);
    (void)deadline_.just_read(); // no turn begins here
    return late;
}

void Ahead::wait_for(size_t chain) noexcept {
    if (helpers_->wait_for(chain))
        return;
    LongWait wait(*helpers_);
    const int64_t traced = trace_.begin();
    while (!helpers_->wait_for(chain)) {
        wait.go_on();
        if (is_late())
            stops_.store(true, std::memory_order_relaxed);
    }
    trace_.end(0, TraceKind::wait, traced);
    governor_.note_wait(wait.nsec());
}

/// The strand isn't begun any more. Whether it has been done.
bool Ahead::close(size_t strand) noexcept {
    wait_for(strand);
    const bool done = graph_.done(strand);
    if (!done)
        plan_.strand(strand).computed = 0;
    return done;
}

Ahead::State Ahead::take(Item one) noexcept {
    const auto number = size_t(std::exchange(one.place().planned, -1));
    PlannedItem& item = plan_.item(number);
    Strand& strand = plan_.strand(item.strand);
    if (number == strand.first) {
        reached_ = item.strand + 1;
        if (close(item.strand))
            ++by_helpers_;
    }
    item.over = true;
    ++taken_count_;
    if (number - strand.first >= strand.computed)
        return State::to_compute;
    taken_ = &item;
    if (one.facts().draws)
        *random_ = item.random;
    perform(item);
    if (!item.all_at_once)
        return State::computed;
    if (!deferred_count_)
        helpers_->commit(reached_);
    return State::written;
}

} // namespace scs
