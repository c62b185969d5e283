// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/rt/deadline.hpp"
#include "engine/rt/float-mode.hpp"
#include "engine/schedule/helpers.hpp"
#include "engine/voices/ahead-list.hpp"
#include "engine/voices/voice-runner.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

namespace scs {

/// Has helpers compute batches before their turns, all but what they add to buses and their done actions: these come in
/// the batch's turn, so the walk remains the only one to decide on an order. docs/parallel.md says why no bit depends
/// on who computes a batch. [rt], after construction.
class Ahead {
public:
    /// When helpers are asked in real time; tests change it before they make an engine. Offline they are when walks
    /// are faster with them.
    struct Limits {
        /// The load of the walks, of the time that their blocks sound, from which on they are. Well below it they are
        /// no longer.
        double waking_load = 0.1;
        /// ns. A helper that the walk has waited for so long has lost its processor to others, which may happen again:
        /// the threads have no real-time priority then, or there are more of them than processors. None is asked for a
        /// second.
        int64_t longest_wait = 300'000;
    };
    static Limits limits;
    /// How many batches at most are computed ahead in a block.
    static size_t most_jobs(const Settings&) noexcept;

    /// [worker] settings.threads: at least 2. Throws if a thread can't be started. The arguments from `lanes` on are
    /// those of VoiceRunner.
    Ahead(const Settings&, AheadList&, std::shared_ptr<ThreadMaker>, int lanes, Buses&, Buffers&, RandomState*, Pool&,
          HeldOutput&, Deadline&);

    void set_host(void* host, VoiceRunner::DoneAction) noexcept;
    void set_sample_rate(double rate) noexcept;

    void begin_cycle() noexcept { helpers_->begin_cycle(); }
    void end_cycle() noexcept;
    /// The walk of a block begins. Nothing but the walk may change voices and batches until close_block().
    void open_block(int32_t number) noexcept;
    /// The walk is at its end or is given up. No helper computes a batch any more afterwards.
    void close_block() noexcept;

    /// The turn of a batch with a job begins. true: all is computed but what it adds to buses; its done actions are
    /// performed. false: it is to be computed as a whole.
    bool take(Batch&) noexcept;
    /// What take() has found of the batch, for VoiceRunner::run_kept().
    float* kept() const noexcept { return taken_->kept; }
    /// In place of that: adds it later. The batch must be no interleaved one, and must stay as it is until flush().
    void defer(Batch&) noexcept;
    /// Adds what was deferred to the buses, in the order of the turns. To be called before anything else reaches a bus,
    /// or changes a batch. Whoever has computed the batches adds them: what there is to add is in that core's cache,
    /// and to move it takes longer than to compute it.
    void flush() noexcept {
        if (deferred_count_)
            add_deferred();
    }

    /// [any] How many batches helpers have computed so far.
    uint64_t computed() const noexcept { return helpers_->jobs_done(); }
    /// Whether a helper has crashed. What it was computing is lost.
    bool failed() const noexcept { return failed_.load(std::memory_order_relaxed); }

private:
    /// A batch and what was computed of it.
    struct alignas(cache_line) Job {
        Batch* batch;    ///< null: it has had its turn
        Batch* deferred; ///< the batch then, while it is still to be added to buses
        float* kept;
        /// Done actions in the order in which they came, each once for a voice: a second one of the same kind changes
        /// nothing.
        struct Action {
            uint8_t lane, action;
        };
        std::array<Action, size_t(2) * most_lanes> actions;
        uint32_t action_count;
        uint32_t who; ///< has computed it, as in Helpers::Run

        void note(int lane, int action) noexcept;
    };

    bool worthwhile() const noexcept;
    bool may_open(Batch&) noexcept;
    void wait_for(size_t job) noexcept;
    void try_out() noexcept;
    void run(size_t who, size_t job) noexcept;
    void let_go(Job&) noexcept;
    void perform(const Job&, Batch&) noexcept;
    void add_deferred() noexcept;
    void do_errand(size_t who) noexcept;

    AheadList& list_;
    HeldOutput& held_;
    const NanoClock clock_ = NanoClock::system();
    const bool real_time_;
    const int threads_;
    const size_t set_floats_;          ///< of a set of rows that is kept
    std::vector<VoiceRunner> runners_; ///< the walk's, for when it waits, then the helpers'
    std::vector<Job> jobs_;
    size_t kept_sets_;
    AlignedArray<float> kept_;
    void* host_ = nullptr;
    VoiceRunner::DoneAction done_action_ = nullptr;
    // Of the present block.
    size_t count_ = 0;       ///< jobs
    size_t taken_count_ = 0; ///< those that have had their turn …
    size_t by_helpers_ = 0;  ///< … and had been begun by then …
    size_t by_walk_ = 0;     ///< … by the walk itself
    Job* taken_ = nullptr;   ///< by take()
    std::vector<const Job*> deferred_;
    size_t deferred_count_ = 0;
    FloatMode float_mode_ = 0;
    // How the work is shared.
    double share_ = 0.5;                  ///< the jobs that are left to the walk at first, of all
    double block_nsec_ = 1;               ///< how long a block sounds
    int64_t began_ = 0, spent_ = 0;       ///< ns: when this block's walk began; that of this cycle's walks
    int blocks_ = 0;                      ///< of this cycle
    double load_ = 0;                     ///< of the walks: of the time that their blocks sound
    bool helped_ = false;                 ///< whether it was worthwhile in the last cycle
    bool pays_ = true;                    ///< offline: whether walks are faster with helpers
    int cycle_ = 0;                       ///< of a period of trials
    std::array<int64_t, 2> trial_nsec_{}; ///< that walks without and with helpers took in them
    int64_t longest_wait_ = 0;            ///< ns, for a helper in this cycle
    double rest_nsec_ = 0;                ///< how long helpers are still left alone
    std::atomic<bool> failed_{false};
    JobList job_list_;
    std::unique_ptr<Helpers> helpers_; ///< ended first, as its threads use the others
};

} // namespace scs
