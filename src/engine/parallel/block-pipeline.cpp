// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/parallel/block-pipeline.hpp"

#include "engine/guard/fault-guard.hpp"
#include "engine/nodes/cluster.hpp"
#include "engine/voices/may-batch.hpp"
#include "engine/voices/records.hpp"
#include "engine/world/buses.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <tuple>
#include <utility>

namespace scs {
namespace {

constexpr size_t most_context_bytes = size_t(64) << 20; // with more audio buses there is no pipeline
constexpr size_t work_between_looks = 1024;             // at the clock, in a stage: some 10 µs
constexpr size_t item_work = 512;                       // some 10 µs, beside which it is little to tell other threads
constexpr size_t fewest_items = 8;                      // of which the first is one thread's alone, and the last, too
constexpr uint32_t stride = 7919;                       // a prime: in each block other tasks are measured …
constexpr uint32_t measured_items = 4;                  // … and stages in one item of this many
constexpr double unequal = 1.1;       // a thread's time by the mean of all, from which on it counts …
constexpr double most_unequal = 1.4;  // … and from which on it counts at once
constexpr size_t stages_a_thread = 3; // at most

size_t contexts_for(const Settings& settings) {
    const auto count = size_t(std::clamp(4 * settings.threads, 8, 16));
    const size_t bytes = size_t(settings.audio_buses) * size_t(settings.block_size) * sizeof(float);
    return count * bytes <= most_context_bytes ? count : 0;
}

/// What a thread computes is recorded by its SynthDef: tasks of the same one, one after the other, as one item.
class TracedItems {
public:
    TracedItems(Trace& trace, size_t thread) noexcept : trace_(trace), thread_(thread), began_(trace.begin()) {}
    ~TracedItems() { end(); }
    TracedItems(const TracedItems&) = delete;
    TracedItems& operator=(const TracedItems&) = delete;

    void next(const Item& one) noexcept {
        if (!began_)
            return;
        if (const TurnFacts* facts = &one.facts(); facts != facts_) {
            end();
            facts_ = facts;
        }
        voices_ += one.voices();
    }

private:
    void end() noexcept {
        if (!facts_)
            return;
        trace_.end(thread_, TraceKind::job, began_, std::exchange(voices_, 0), facts_->name);
        began_ = trace_.begin();
    }

    Trace& trace_;
    const size_t thread_;
    int64_t began_;                    ///< 0: nothing is recorded any more
    const TurnFacts* facts_ = nullptr; ///< the last task's
    int voices_ = 0;
};

} // namespace

/// Measures some tasks of a stage.
class BlockPipeline::Sample {
public:
    /// `from`: the first task that may be measured.
    Sample(const NanoClock& clock, size_t from) noexcept : clock_(clock), from_(from) {}

    /// This task is next.
    void next(size_t number, Task& task) noexcept {
        if (number < from_ || over_)
            return;
        if (first_ && (!task.live || !like_first(task) || work_ >= work_between_looks))
            return end();
        if (!task.live)
            return;
        if (!first_) {
            first_ = &task;
            began_ = clock_.now();
        }
        ++took_.items;
        if (task.of.kind() != Costs::Kind::held)
            took_.synths += std::popcount(task.live);
        work_ += task.work;
    }
    /// The last of them is over.
    void end() noexcept {
        if (!first_ || std::exchange(over_, true))
            return;
        took_.nsec = clock_.now() - began_;
        took_.operations = first_->work;
        first_->took = took_;
    }

private:
    bool like_first(const Task& task) const noexcept {
        return &task.of.facts() == &first_->of.facts() && task.of.kind() == first_->of.kind();
    }

    const NanoClock& clock_;
    const size_t from_;
    Costs::Measured took_{.items = 0};
    int64_t began_ = 0;
    size_t work_ = 0;
    Task* first_ = nullptr;
    bool over_ = false;
};

BlockPipeline::BlockPipeline(const Settings& settings, size_t most_items, int lanes, std::span<VoiceRunner> runners,
                             Dependencies& dependencies, Buses& buses, HeldOutput& held, RandomState* random,
                             const RandomJump& jump, Trace& trace, const Deadline& deadline, Costs& costs,
                             TaskGraph& graph)
    : runners_(runners),
      dependencies_(dependencies),
      buses_(buses),
      held_(held),
      random_(random),
      jump_(jump),
      trace_(trace),
      deadline_(deadline),
      graph_(graph),
      block_(size_t(settings.block_size)),
      inputs_(size_t(settings.inputs)),
      outputs_(size_t(settings.outputs)),
      audio_buses_(size_t(settings.audio_buses)),
      context_count_(contexts_for(settings)),
      context_buses_(aligned_zeros<float>(context_count_ * audio_buses_ * block_)),
      context_touched_(aligned_zeros<int32_t>(context_count_ * audio_buses_)),
      wires_(aligned_zeros<float>((runners.size() - 1) * size_t(settings.wire_buffers) * block_)),
      wire_floats_(size_t(settings.wire_buffers) * block_),
      kept_(aligned_zeros<float>(size_t(most_blocks) * outputs_ * block_)),
      kept_any_(size_t(most_blocks) * outputs_),
      paused_bytes_(size_t(lanes) * most_paused_bytes),
      paused_(runners.size() * paused_bytes_),
      tasks_(most_items),
      costs_(costs),
      shares_(runners.size(), 1. / double(runners.size())),
      sends_(settings.real_time),
      endings_(3 * std::min(size_t(settings.max_nodes), most_items * size_t(lanes))) {
    std::fill_n(context_touched_.get(), context_count_ * audio_buses_, -1);
}

// ---- planning

bool BlockPipeline::fits(Batch& batch) noexcept {
    return batch.code->pipelines && keeps_together(batch) && !batch.synths[batch.first()]->parent->cluster &&
           (!batch.code->pauses || batch.code->record_bytes <= most_paused_bytes);
}

bool BlockPipeline::fits_graph(const Synth& synth) noexcept {
    return synth.facts->pipelines && synth.run == Run::on && synth.graph->constructed() && !synth.parent->cluster;
}

/// `task`: its number. Sets Task::holder.
bool BlockPipeline::fits(const Item& one, size_t task, int32_t& holder) const noexcept {
    holder = -1;
    if (one.batch)
        return fits(*one.batch);
    if (one.is_graph())
        return fits_graph(*one.lone);
    const Voice& voice = *one.lone->voice;
    if (!voice.batch)
        return voice.code->pipelines && one.lone->run == Run::on && !one.lone->parent->cluster;
    holder = voice.batch->ahead.listed;
    return voice.batch->interleaved && size_t(holder) < task && tasks_[size_t(holder)].of.batch == voice.batch;
}

/// false: it can't be computed so.
bool BlockPipeline::add_task(const Item& one) noexcept {
    const size_t number = task_count_++;
    Task& task = tasks_[number];
    task = {.of = one, .holder = -1};
    if (!fits(one, number, task.holder))
        return false;
    task.work = uint32_t(work_in(one));
    task.takes_long = !one.is_graph() && one.code().takes_long;
    work_ += task.work;
    guessed_ = guessed_ || !Costs::knows(one.facts(), one.kind());
    dependencies_.add(one, cost_of(task));
    if (task.holder >= 0)
        dependencies_.join(size_t(task.holder));
    return dependencies_.known() && !dependencies_.maps_audio();
}

bool BlockPipeline::plan(std::span<const Item> items) noexcept {
    task_count_ = work_ = 0;
    unequal_ = 0;
    numbers_ = 0;
    guessed_ = false;
    if (!context_count_ || items.size() > tasks_.size())
        return false;
    dependencies_.begin();
    bool ends = false, sends = false;
    int interleaved = 0, others = 0; // such batches, and of their voices those whose tasks haven't come
    for (const Item& one : items) {
        if (!add_task(one))
            return false;
        ends = ends || one.facts().ends;
        sends = sends || one.facts().sends;
        if (tasks_[task_count_ - 1].holder >= 0) {
            --others;
        } else if (one.batch && one.batch->interleaved) {
            ++interleaved;
            others += one.batch->count();
        }
    }
    // Ends are told after the blocks, so all messages come in order only if no synth ends.
    return !(sends_ && sends && ends) && others == 0 && interleaved <= HeldOutput::slots && cut();
}

/// With more stages for each thread all have begun sooner. But where there are few places to cut, threads may have less
/// even shares.
bool BlockPipeline::find_cuts(const Runs& runs) noexcept {
    const StageCuts::Threads threads{shares_, hand_over_, items_};
    size_t best = 0;
    double least = 0;
    for (size_t each = 1; each <= stages_a_thread && each * shares_.size() <= StageCuts::most_stages; ++each)
        if (cuts_.find(runs, threads, each * shares_.size()) && (!best || cuts_.time() < least)) {
            best = each;
            least = cuts_.time();
        }
    return best && cuts_.find(runs, threads, best * shares_.size());
}

bool BlockPipeline::cut() noexcept {
    const Runs& runs = dependencies_.find_stages();
    if (!find_cuts(runs)) {
        std::fill(shares_.begin(), shares_.end(), 1. / double(shares_.size())); // what they were was another piece's
        if (!find_cuts(runs))
            return false;
    }
    draws_vary_ = dependencies_.draws_vary();
    hears_ = dependencies_.reaches_inputs();
    stage_count_ = cuts_.stages();
    for (size_t i = 0, first = 0; i < stage_count_; ++i) {
        Stage& stage = stages_[i];
        stage = {};
        stage.first = uint32_t(first);
        stage.end = uint32_t(cuts_.end(i));
        first = stage.end;
        for (const Task& task : std::span(tasks_).subspan(stage.first, stage.end - stage.first)) {
            if (task.holder >= 0 || !task.of.facts().draws)
                continue;
            stage.draws = true;
            stage.numbers += task.of.numbers();
        }
        numbers_ += stage.numbers;
    }
    return true;
}

// ---- the blocks

/// Blocks in which there is little to do pass the stages several at a time.
size_t BlockPipeline::span_of(int blocks) const noexcept {
    const size_t most = std::min(size_t(blocks) / fewest_items, context_count_ / 2);
    return std::clamp<size_t>((item_work + work_ - 1) / std::max<size_t>(work_, 1), 1, std::max<size_t>(most, 1));
}

void BlockPipeline::open(int32_t first, int blocks, const BlockInputs& inputs) noexcept {
    first_ = first;
    heard_ = inputs;
    count_ = size_t(blocks);
    span_ = span_of(blocks);
    ending_count_.store(0, std::memory_order_relaxed);
    for (Task& task : std::span(tasks_).first(task_count_)) {
        task.live = task.of.batch ? task.of.batch->live : 1;
        task.paused = 0;
        task.ended = 0;
        task.took.items = 0;
        if (task.of.batch && task.of.batch->interleaved)
            (void)held_.take_slot(*task.of.batch); // plan() has seen to it that there is one
    }
    take_written();
    expected_wait_ = usual_wait();
    RandomState random = *random_;
    for (Stage& stage : std::span(stages_).first(stage_count_)) {
        stage.random = random;
        stage.whole = 0;
        stage.least = unmeasured;
        if (!draws_vary_ && stage.draws)
            random = jump_(random, stage.numbers);
    }
    graph_.open_stages(stage_count_, items(), context_count_ / span_);
}

BlockPipeline::Context BlockPipeline::context(size_t index) noexcept {
    // What comes after the blocks finds the buses as the last one has left them.
    if (index + 1 == count_)
        return {buses_.audio(0), buses_.audio_touched()};
    const size_t which = index % context_count_;
    return {context_buses_.get() + which * audio_buses_ * block_, context_touched_.get() + which * audio_buses_};
}

void BlockPipeline::run(size_t thread, size_t number, size_t item) noexcept {
    Stage& stage = stages_[number];
    const bool measured = (uint32_t(first_) + item + number) % measured_items == 0;
    const int64_t began = measured ? clock_.now() : 0;
    const size_t first = item * span_, end = std::min(first + span_, count_);
    for (size_t index = first; index < end; ++index)
        if (!run_block(thread, number, index, measured && index == first))
            return;
    if (measured)
        stage.least = std::min(stage.least, (clock_.now() - began) / int64_t(end - first));
    if (thread)
        by_helpers_.fetch_add((end - first) * (stage.end - stage.first), std::memory_order_relaxed);
}

bool BlockPipeline::run_block(size_t thread, size_t number, size_t index, bool measured) noexcept {
    Stage& stage = stages_[number];
    VoiceRunner& runner = runners_[thread];
    const Context context = this->context(index);
    runner.use_audio(context.buses, context.touched);
    runner.begin_block(int32_t(uint32_t(first_) + uint32_t(index)));
    runner.draw_from(stage.random);
    if (number == 0)
        take_inputs(context, index);
    if (!run_tasks(thread, stage, index, measured))
        return false;
    if (stage.draws && !draws_vary_)
        stage.random = jump_(stage.random, numbers_ - stage.numbers);
    if (number + 1 == stage_count_)
        keep_outputs(context, index);
    ++stage.whole;
    return true;
}

bool BlockPipeline::run_tasks(size_t thread, Stage& stage, size_t index, bool measured) noexcept {
    VoiceRunner& runner = runners_[thread];
    TracedItems traced(trace_, thread);
    const uint32_t block = uint32_t(first_) + uint32_t(index);
    Sample sample(clock_, measured ? stage.first + block * stride % (stage.end - stage.first) : stage.end);
    size_t work = 0;
    for (uint32_t i = stage.first; i < stage.end; ++i) {
        if (graph_.stopped())
            return false;
        Task& task = tasks_[i];
        if ((work += task.work) >= work_between_looks || task.takes_long) {
            work = 0;
            FaultGuard::progress();
            (void)stops();
        }
        Noting noting{this, uint32_t(index), i};
        runner.set_host(&noting, [](void* to, Synth& synth, int action) SCS_NONBLOCKING {
            const FaultGuard::HostCode whole;
            static_cast<Noting*>(to)->note(synth, action);
        });
        task.tails = task.ended;
        traced.next(task.of);
        sample.next(i, task);
        if (!run_task(thread, task, noting))
            return false;
        task.live &= ~(noting.done.paused | noting.done.ended);
        task.paused |= noting.done.paused;
        task.ended = noting.done.ended;
    }
    sample.end();
    return true;
}

/// Whether the blocks are to end. Sees to it that they do when the deadline has passed.
bool BlockPipeline::stops() noexcept {
    if (deadline_.bounded() && deadline_.now() >= deadline_.moment())
        graph_.stop();
    return graph_.stopped();
}

/// false, here and below: the deadline has passed in the midst of it.
bool BlockPipeline::run_task(size_t thread, Task& task, Noting& noting) noexcept {
    VoiceRunner& runner = runners_[thread];
    task.ran = task.live;
    if (task.of.is_graph()) {
        if (task.live)
            return run_graph(thread, *task.of.lone, noting);
        if (task.tails)
            task.of.lone->graph->write_tails(runner.space());
    } else if (task.holder >= 0) {
        const Task& holder = tasks_[size_t(task.holder)];
        const uint32_t lane = 1u << task.of.lone->voice->lane;
        if (holder.ran & lane)
            runner.add_held(*task.of.lone);
        else if (holder.tails & lane)
            runner.write_tails(*holder.of.batch, lane);
    } else if (Batch* batch = task.of.batch) {
        const uint32_t tails = batch->interleaved ? 0 : task.tails;
        if (task.live && task.paused) {
            // Kernels compute all lanes, and those of voices that have paused themselves must stay as they are.
            std::byte* const kept = paused_.data() + thread * paused_bytes_;
            Records::copy_lanes(*batch, task.paused, batch->record(), kept);
            runner.run(*batch, task.live, tails);
            Records::copy_lanes(*batch, task.paused, kept, batch->record());
        } else if (task.live) {
            runner.run(*batch, task.live, tails);
        } else if (tails) {
            runner.write_tails(*batch, tails);
        }
    } else if (task.live) {
        runner.run(*task.of.lone);
    } else if (task.tails) {
        runner.write_tail(*task.of.lone);
    }
    return true;
}

bool BlockPipeline::run_graph(size_t thread, Synth& synth, Noting& noting) noexcept {
    float* const wires = thread ? wires_.get() + (thread - 1) * wire_floats_ : nullptr;
    const auto outcome = synth.graph->compute(
        wires, runners_[thread].space(), [](void* self) noexcept { return static_cast<BlockPipeline*>(self)->stops(); },
        this);
    if (outcome == UnitGraph::Outcome::crashed) {
        noting.done.paused = 1; // it isn't computed any more
        noting.add(synth, 0, Ending::crash);
    }
    return outcome != UnitGraph::Outcome::stopped;
}

void BlockPipeline::Noting::note(Synth& synth, int action) noexcept {
    const uint32_t lane = synth.voice && synth.voice->batch ? synth.voice->lane : 0;
    if (done.add(lane, action))
        add(synth, lane, uint8_t(action));
}

void BlockPipeline::Noting::add(Synth& synth, uint32_t lane, uint8_t action) noexcept {
    const uint32_t order = self->ending_count_.fetch_add(1, std::memory_order_relaxed);
    self->endings_[order] = {index, task, order, 0, uint8_t(lane), action, &synth};
}

std::span<BlockPipeline::Ending> BlockPipeline::endings() noexcept {
    const std::span<Ending> all = std::span(endings_).first(ending_count_.load(std::memory_order_relaxed));
    for (Ending& ending : all) {
        const auto own = uint32_t(ending.synth->ahead.listed);
        ending.own = own < task_count_ && tasks_[own].of.lone == ending.synth ? own : ending.task;
    }
    std::sort(all.begin(), all.end(), [](const Ending& a, const Ending& b) {
        return std::tie(a.index, a.task, a.order) < std::tie(b.index, b.task, b.order);
    });
    return all;
}

/// What is on buses before the first block, such as the end of the sound of voices that a command has freed, belongs to
/// that block.
void BlockPipeline::take_written() noexcept {
    const Context to = context(0);
    const std::span<const int32_t> touched(buses_.audio_touched(), audio_buses_);
    for (size_t bus = 0; bus < audio_buses_; ++bus)
        if (touched[bus] == first_) {
            std::memcpy(to.buses + bus * block_, buses_.audio(int(bus)), block_ * sizeof(float));
            to.touched[bus] = first_;
        }
}

void BlockPipeline::take_inputs(const Context& context, size_t index) const noexcept {
    // What comes after the blocks may look back at the last one's.
    if (!hears_ && index + 1 != count_)
        return;
    for (size_t i = 0; i < inputs_; ++i)
        if (const float* from = heard_.at(i, index, block_)) {
            const size_t bus = outputs_ + i;
            std::memcpy(context.buses + bus * block_, from, block_ * sizeof(float));
            context.touched[bus] = int32_t(uint32_t(first_) + uint32_t(index));
        }
}

void BlockPipeline::keep_outputs(const Context& context, size_t index) noexcept {
    for (size_t i = 0; i < outputs_; ++i) {
        const size_t at = index * outputs_ + i;
        kept_any_[at] = context.touched[i] == int32_t(uint32_t(first_) + uint32_t(index));
        if (kept_any_[at])
            std::memcpy(kept_.get() + at * block_, context.buses + i * block_, block_ * sizeof(float));
    }
}

void BlockPipeline::put(int index, Buses& buses, int32_t block) const noexcept {
    for (size_t i = 0; i < outputs_; ++i) {
        const size_t at = size_t(index) * outputs_ + i;
        if (!kept_any_[at])
            continue;
        buses.audio_touched()[i] = block;
        std::memcpy(buses.audio(int(i)), kept_.get() + at * block_, block_ * sizeof(float));
    }
}

int BlockPipeline::close() noexcept {
    const auto done = int(stages_[stage_count_ - 1].whole);
    for (const Task& task : std::span(tasks_).first(task_count_))
        if (task.of.batch)
            held_.free_slot(*task.of.batch);
    for (VoiceRunner& runner : runners_) {
        runner.use_audio(buses_.audio(0), buses_.audio_touched());
        runner.draw_from(*random_);
    }
    if (!draws_vary_) {
        *random_ = jump_(*random_, numbers_ * uint32_t(done));
    } else {
        for (const Stage& stage : std::span(stages_).first(stage_count_))
            if (stage.draws)
                *random_ = stage.random;
    }
    note_costs();
    if (size_t(done) == count_)
        balance();
    return done;
}

int64_t BlockPipeline::usual_wait() const noexcept {
    int64_t longest = 0;
    for (const Stage& stage : std::span(stages_).first(stage_count_))
        if (stage.least != unmeasured)
            longest = std::max(longest, stage.least);
    return longest * int64_t(span_);
}

void BlockPipeline::note_costs() noexcept {
    for (const Task& task : std::span(tasks_).first(task_count_))
        if (Costs::Measured took = task.took; took.items) {
            took.synths = deadline_.bounded() ? took.synths : 0;
            costs_.note(task.of.facts(), task.of.kind(), took);
        }
}

/// Shares are what a thread does in a time: the quicker it is, the more it gets. A stage's shortest time counts, as a
/// longer one may be that of a thread that had lost its processor.
void BlockPipeline::balance() noexcept {
    const size_t threads = shares_.size();
    double beside = 0;
    for (size_t i = 0; i < stage_count_; ++i) {
        if (stages_[i].least == unmeasured)
            return;
        beside += double(stages_[i].least) - double(cuts_.work(i));
    }
    if (!guessed_)
        hand_over_ += (std::max(beside / double(stage_count_), 0.) - hand_over_) / 8;
    items_ += (double(items()) - items_) / 8;
    const auto time_of = [&](size_t thread) {
        int64_t sum = 0;
        for (size_t i = thread; i < stage_count_; i += threads)
            sum += stages_[i].least;
        return std::max<int64_t>(sum, 1);
    };
    int64_t all = 0, longest = 0;
    for (size_t i = 0; i < threads; ++i) {
        all += time_of(i);
        longest = std::max(longest, time_of(i));
    }
    const double by_mean = double(longest) * double(threads) / double(all);
    if (stage_count_ < threads || by_mean <= unequal)
        return;
    unequal_ += by_mean > most_unequal ? unequal_runs : 1;
    const auto speed_of = [&](size_t thread) {
        double sum = 0;
        for (size_t i = thread; i < stage_count_; i += threads)
            for (const Task& task : std::span(tasks_).subspan(stages_[i].first, stages_[i].end - stages_[i].first))
                sum += cost_of(task);
        return sum / double(time_of(thread));
    };
    double sum = 0;
    for (size_t i = 0; i < threads; ++i)
        sum += speed_of(i);
    for (size_t i = 0; i < threads; ++i)
        shares_[i] += (speed_of(i) / sum - shares_[i]) / 2;
}

} // namespace scs
