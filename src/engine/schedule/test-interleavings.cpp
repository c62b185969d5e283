// SPDX-License-Identifier: GPL-3.0-or-later
// JobList and Pipeline, in every interleaving of a few threads with a few jobs. What is checked: each job is done once
// in its round and never in another, behind its gate, and sees what was written before; the owner sees what it has
// done; and nobody waits for ever.
#include "engine/schedule/test-interleavings.hpp"

// In this program std::atomic is, within scs, the one that the model watches. So it runs the very code of the product.
namespace scs::std {
using namespace ::std;
template <class T>
using atomic = test::Atomic<T>;
} // namespace scs::std

#include "engine/schedule/job-list.cpp"
#include "engine/schedule/pipeline.cpp"

#include <doctest/doctest.h>

namespace scs::test {
namespace {

void require(bool holds, const char* what) {
    Interleavings::require(holds, what);
}

/// Numbers for places in the code, each with what is known there.
uint64_t place(uint64_t line, uint64_t a = 0, uint64_t b = 0, uint64_t c = 0) {
    return line << 48 | a << 32 | b << 16 | c;
}

/// The same of what a thread has looked at.
uint64_t place(const JobList::Looked& looked) {
    return looked.next ? looked.round << 8 | looked.next : 0; // without `next`, it is as if it had never looked
}

/// The failure; empty: there is none. Prints how much was tried.
::std::string failure(const Interleavings::Result& result) {
    ::std::printf("%zu states, %.3g interleavings\n", result.states, result.count);
    return result.failure;
}

// ---- JobList

struct Round {
    std::vector<size_t> gates; ///< of each job; 0: it has none
    size_t split;
    size_t reached = SIZE_MAX; ///< the owner breaks off when it has come to so many
};
struct Graph {
    size_t helpers;
    std::vector<Round> rounds;
    bool asleep = false; ///< helpers look at jobs without a gate when the first round has begun, not before
};

/// An owner with helpers that do what those of Helpers do. What a job works with isn't atomic.
struct Crew final : Interleavings::Threads {
    explicit Crew(const Graph& its_graph)
        : graph(its_graph),
          rounds(graph.rounds),
          list(most(rounds)),
          given(list.most()),
          done(list.most()),
          used(list.most()) {}
    static size_t most(const std::vector<Round>& rounds) {
        size_t jobs = 0;
        for (const Round& round : rounds)
            jobs = std::max(jobs, round.gates.size());
        return jobs;
    }

    void run(size_t thread) override { thread ? help(thread - 1) : own(); }

    void own() {
        for (now = 1; now <= rounds.size(); ++now) {
            Interleavings::at(place(__LINE__, now, place(looked)));
            const auto& [gates, split, reached] = rounds[now - 1];
            for (size_t job = 0; job < gates.size(); ++job)
                given[job].write(now);
            for (size_t gate = 1; gate <= gates.size(); ++gate)
                for (size_t job = 0; job < gates.size(); ++job)
                    if (gates[job] == gate)
                        list.gate(job, gate);
            list.open(gates.size(), split);
            begun.fetch_add(1, std::memory_order_seq_cst);
            for (size_t job = 0; job < ::std::min(reached, gates.size()); ++job)
                reach(job);
            if (reached < gates.size())
                break_off(reached, gates.size());
        }
        begun.fetch_add(1, std::memory_order_seq_cst);
    }
    void reach(size_t job) {
        Interleavings::at(place(__LINE__, now, job, place(looked)));
        list.pass(job + 1);
        if (list.take(job))
            run_job(job);
        else
            wait_and_settle(job);
        require(done[job].read() == now, "a job isn't done");
        used[job].write(now);
    }
    /// As a walk does whose time is over.
    void break_off(size_t job, size_t end) {
        Interleavings::at(place(__LINE__, now, place(looked)));
        for (size_t i = job; i < end; ++i)
            require(list.take(i) || list.begun(i), "a job is still open");
        for (; job < end; ++job)
            if (list.begun(job))
                wait_and_settle(job);
    }
    void wait_and_settle(size_t job) {
        while (!wait_for(job))
            Interleavings::wait(place(__LINE__, now, job, place(looked)));
        list.settle(job);
    }
    bool wait_for(size_t job) {
        if (list.done(job))
            return true;
        size_t other = list.take_ahead(job);
        if (other == JobList::none)
            other = list.take_gated(looked);
        if (other == JobList::none)
            return false;
        run_job(other);
        list.finish(other);
        return list.done(job);
    }

    void help(size_t which) {
        JobList::Looked have;
        for (uint64_t seen = graph.asleep ? wait_for_round(0, have) : 0; seen <= rounds.size();) {
            Interleavings::at(place(__LINE__, seen, place(have)));
            JobList::Place where = list.place(which, graph.helpers);
            for (size_t job; (job = list.take_next(where)) != JobList::none;) {
                run_job(job);
                list.finish(job);
                Interleavings::at(place(__LINE__, seen, where.up << 8 | where.down, place(have)));
            }
            seen = wait_for_round(seen, have);
        }
    }
    uint64_t wait_for_round(uint64_t seen, JobList::Looked& have) {
        while (true) {
            Interleavings::at(place(__LINE__, seen, place(have)));
            if (const uint64_t round = begun.load(std::memory_order_acquire); round != seen)
                return round;
            if (const size_t job = list.take_gated(have); job != JobList::none) {
                run_job(job);
                list.finish(job);
            } else {
                Interleavings::wait(place(__LINE__, seen, place(have)));
            }
        }
    }

    void run_job(size_t job) {
        require(given[job].read() == now, "a job of another round");
        require(done[job].read() != now, "a job is done twice");
        const size_t gate = rounds[now - 1].gates[job];
        for (size_t before = 0; before + 1 < gate; ++before)
            require(used[before].read() == now, "its gate isn't open");
        done[job].write(now);
    }

    const Graph& graph;
    const std::vector<Round>& rounds;
    size_t now = 0; ///< the owner's round
    JobList list;
    JobList::Looked looked;               ///< the owner
    Atomic<uint64_t> begun;               ///< as Helpers counts rounds; one more: the end
    std::vector<Plain> given, done, used; ///< of each job, the round in which it was last
};

::std::string list_failure(const Graph& graph) {
    return failure(Interleavings::explore(1 + graph.helpers, [&] { return ::std::make_unique<Crew>(graph); }));
}

// ---- Pipeline

/// Threads that take items through stages, as blocks are in the engine.
struct Line final : Interleavings::Threads {
    struct Size {
        size_t threads, stages, items, at_once;
    };
    explicit Line(const Size& its_size)
        : size(its_size),
          pipeline([](void* self, size_t, size_t stage,
                      size_t item) noexcept { static_cast<Line*>(self)->run_stage(stage, item); },
                   this),
          marks(size.stages * size.items) {
        pipeline.open(size.stages, size.items, size.at_once, size.threads);
    }
    Plain& mark(size_t stage, size_t item) { return marks[item * size.stages + stage]; }

    void run(size_t thread) override {
        for (Interleavings::at(place(__LINE__)); !pipeline.over(); Interleavings::at(place(__LINE__)))
            if (!pipeline.step(thread, true))
                Interleavings::wait(place(__LINE__));
        if (thread == 0)
            for (const Plain& each : marks)
                require(each.read() == 1, "a stage is left out");
    }
    void run_stage(size_t stage, size_t item) {
        require(stage == 0 || mark(stage - 1, item).read(), "the stage before isn't done");
        require(item == 0 || mark(stage, item - 1).read(), "the item before isn't through the stage");
        require(stage > 0 || item < size.at_once || mark(size.stages - 1, item - size.at_once).read(),
                "too many items are under way");
        require(!mark(stage, item).read(), "a stage is done twice");
        mark(stage, item).write(1);
    }

    const Size size;
    Pipeline pipeline;
    std::vector<Plain> marks; ///< 1: it is done
};

::std::string pipeline_failure(const Line::Size& size) {
    return failure(Interleavings::explore(size.threads, [&] { return ::std::make_unique<Line>(size); }));
}

} // namespace

// A round is {{gate of each job …}, split}.

TEST_CASE("jobs of a list, one helper") {
    CHECK(list_failure({1, {{{0, 0}, 0}, {{0, 0}, 1}}}) == "");
    CHECK(list_failure({1, {{{0, 1}, 0}, {{0, 2}, 0}}}) == "");
    CHECK(list_failure({1, {{{0}, 0}, {{0, 2}, 3}, {{}, 0}, {{1}, 0}}, true}) == "");
}

TEST_CASE("jobs of a list, two helpers") {
    CHECK(list_failure({2, {{{0}, 0}, {{0}, 0}}}) == "");
    CHECK(list_failure({2, {{{0, 0}, 0}}, true}) == "");
    CHECK(list_failure({2, {{{1}, 0}, {{1}, 0}}, true}) == "");
    CHECK(list_failure({2, {{{0, 1}, 0}}, true}) == "");
}

TEST_CASE("jobs of a list, three helpers") {
    CHECK(list_failure({3, {{{0}, 0}}, true}) == "");
}

TEST_CASE("jobs of a list whose owner breaks off") {
    CHECK(list_failure({1, {{{0, 0, 1}, 0, 1}, {{0, 0}, 0, 0}}, true}) == "");
    CHECK(list_failure({2, {{{0, 0}, 0, 1}}, true}) == "");
}

TEST_CASE("stages of a pipeline, two threads") {
    CHECK(pipeline_failure({2, 2, 2, 1}) == "");
    CHECK(pipeline_failure({2, 2, 3, 2}) == "");
    CHECK(pipeline_failure({2, 3, 2, 2}) == "");
}

TEST_CASE("stages of a pipeline, three threads") {
    CHECK(pipeline_failure({3, 2, 2, 2}) == "");
}

} // namespace scs::test
