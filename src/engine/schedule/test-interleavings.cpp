// SPDX-License-Identifier: GPL-3.0-or-later
// TaskGraph, in every interleaving of a few threads with a few tasks, in rounds of strands, of stages and of both. What
// is checked: each task is done once in its round and never in another, after what it waits for, and sees what was
// written before; the owner sees what was done; and no thread waits for ever.
#include "engine/schedule/test-interleavings.hpp"

// In this program std::atomic is, within scs, the one that the model watches. So it runs the very code of the product.
namespace scs::std {
using namespace ::std;
template <class T>
using atomic = test::Atomic<T>;
} // namespace scs::std

#include "engine/schedule/task-graph.cpp"

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

/// The same of what a thread remembers of a round; what it has never looked at is the same to it as the first one.
uint64_t place(const TaskGraph::Hand& hand) {
    return (hand.opened >> 32) << 12 | hand.up << 8 | hand.down << 4 | hand.gated;
}

/// The failure; empty: there is none. Prints how much was tried.
::std::string failure(const Interleavings::Result& result) {
    ::std::printf("%zu states, %.3g interleavings\n", result.states, result.count);
    return result.failure;
}

struct Round {
    std::vector<size_t> gates = {}; ///< of each strand; 0: it has none
    size_t split = 0;
    size_t reached = SIZE_MAX; ///< strands after which the owner breaks off
    // Or, if there are stages:
    size_t stages = 0, blocks = 0, at_once = 0;
    size_t stops_after = SIZE_MAX; ///< tasks after which the owner stops

    size_t strands() const { return gates.size(); }
    size_t chains() const { return stages ? stages : gates.size(); }
    size_t tasks() const { return stages ? stages * blocks : gates.size(); }
};
struct Piece {
    size_t helpers;
    std::vector<Round> rounds;
    bool asleep = false; ///< helpers look at tasks when the first round has begun, not before
};

/// An owner with helpers that do what those of Helpers do. What a task works with isn't atomic.
struct Crew final : Interleavings::Threads {
    explicit Crew(const Piece& its_piece)
        : piece(its_piece),
          rounds(piece.rounds),
          graph(most(&Round::chains), 1 + piece.helpers),
          given(most(&Round::chains)),
          done(most(&Round::tasks)),
          used(most(&Round::strands)) {}
    size_t most(size_t (Round::*number)() const) const {
        size_t most = 0;
        for (const Round& round : rounds)
            most = std::max(most, (round.*number)());
        return most;
    }

    void run(size_t thread) override { thread ? help(thread) : own(); }

    void own() {
        for (now = 1; now <= rounds.size(); ++now) {
            Interleavings::at(place(__LINE__, now, place(own_hand)));
            const Round& round = rounds[now - 1];
            for (size_t chain = 0; chain < round.chains(); ++chain)
                given[chain].write(now);
            round.stages ? open_stages(round) : open_strands(round);
            begun.fetch_add(1, std::memory_order_seq_cst);
            round.stages ? drive(round) : walk(round);
        }
        begun.fetch_add(1, std::memory_order_seq_cst);
    }
    void open_strands(const Round& round) {
        const auto& gates = round.gates;
        for (size_t gate = 1; gate <= gates.size(); ++gate)
            for (size_t strand = 0; strand < gates.size(); ++strand)
                if (gates[strand] == gate)
                    graph.gate(strand, gate);
        graph.open_strands(gates.size(), round.split);
    }
    void open_stages(const Round& round) { graph.open_stages(round.stages, round.blocks, round.at_once); }

    void walk(const Round& round) {
        const size_t reached = ::std::min(round.reached, round.gates.size());
        for (size_t strand = 0; strand < reached; ++strand)
            reach(strand);
        if (reached < round.gates.size())
            break_off(reached, round.gates.size());
    }
    void reach(size_t strand) {
        Interleavings::at(place(__LINE__, now, strand, place(own_hand)));
        graph.commit(strand + 1);
        wait_for(strand);
        if (!graph.done(strand))
            run_task({strand, 0});
        require(done[strand].read() == now, "a strand isn't done");
        used[strand].write(now);
    }
    /// As a walk does whose time is over.
    void break_off(size_t first, size_t end) {
        Interleavings::at(place(__LINE__, now, place(own_hand)));
        for (size_t i = first; i < end; ++i)
            (void)graph.close(i);
        for (size_t i = first; i < end; ++i)
            wait_for(i);
    }
    void wait_for(size_t chain) {
        while (!graph.close(chain))
            if (!step(own_hand, chain + 1))
                Interleavings::wait(place(__LINE__, now, chain, place(own_hand)));
    }
    /// As blocks that are computed at once.
    void drive(const Round& round) {
        for (size_t by_owner = 0; graph.stages_left();) {
            Interleavings::at(place(__LINE__, now, by_owner, place(own_hand)));
            if (by_owner == round.stops_after)
                graph.stop();
            else if (step(own_hand, 0))
                ++by_owner;
            else if (graph.stages_left())
                Interleavings::wait(place(__LINE__, now, by_owner, place(own_hand)));
        }
        for (size_t stage = 0; stage < round.stages; ++stage)
            wait_for(stage);
        for (size_t stage = 0; stage < round.stages; ++stage)
            for (size_t block = 0; block < round.blocks; ++block)
                require((done[block * round.stages + stage].read() == now) == (block < graph.done(stage)),
                        "a stage isn't done");
        require(round.stops_after != SIZE_MAX || graph.done(round.stages - 1) == round.blocks, "a block isn't done");
    }

    void help(size_t thread) {
        TaskGraph::Hand hand{.thread = thread};
        for (uint64_t seen = piece.asleep ? wait_for_round(0) : 0; seen <= rounds.size();) {
            Interleavings::at(place(__LINE__, seen, place(hand)));
            if (const uint64_t round = begun.load(std::memory_order_acquire); round != seen)
                seen = round;
            else if (!step(hand, 0))
                Interleavings::wait(place(__LINE__, seen, place(hand)));
        }
    }
    uint64_t wait_for_round(uint64_t seen) {
        while (true) {
            Interleavings::at(place(__LINE__, seen));
            if (const uint64_t round = begun.load(std::memory_order_acquire); round != seen)
                return round;
            Interleavings::wait(place(__LINE__, seen));
        }
    }
    bool step(TaskGraph::Hand& hand, size_t from) {
        hand.looks = TaskGraph::looks_for_own; // any task: which one it prefers makes no difference here
        const TaskGraph::Task task = graph.take(hand, from);
        if (task.chain == TaskGraph::none)
            return false;
        run_task(task);
        graph.finish(task.chain);
        return true;
    }

    void run_task(TaskGraph::Task task) {
        const Round& round = rounds[now - 1];
        const auto number = [&](size_t chain, size_t block) {
            return round.stages ? block * round.stages + chain : chain;
        };
        const size_t own = number(task.chain, task.block);
        const auto is_done = [&](size_t chain, size_t block) { return done[number(chain, block)].read() == now; };
        require(task.block < ::std::max<size_t>(round.blocks, 1), "there is no such block");
        require(given[task.chain].read() == now, "a task of another round");
        require(done[own].read() != now, "a task is done twice");
        if (round.stages) {
            require(task.chain == 0 || is_done(task.chain - 1, task.block), "the stage before isn't done");
            require(task.block == 0 || is_done(task.chain, task.block - 1), "the block before isn't through the stage");
            require(task.chain > 0 || task.block < round.at_once ||
                        is_done(round.stages - 1, task.block - round.at_once),
                    "too many blocks are under way");
        } else {
            for (size_t before = 0; before + 1 < round.gates[task.chain]; ++before)
                require(used[before].read() == now, "its gate isn't open");
        }
        done[own].write(now);
    }

    const Piece& piece;
    const std::vector<Round>& rounds;
    size_t now = 0; ///< the owner's round
    TaskGraph graph;
    TaskGraph::Hand own_hand;
    Atomic<uint64_t> begun;               ///< as Helpers counts rounds; one more: the end
    std::vector<Plain> given, done, used; ///< of each chain, task, strand: the round in which it was last
};

::std::string failure(const Piece& piece) {
    return failure(Interleavings::explore(1 + piece.helpers, [&] { return ::std::make_unique<Crew>(piece); }));
}
Round stages(size_t stages, size_t blocks, size_t at_once, size_t stops_after = SIZE_MAX) {
    return {.stages = stages, .blocks = blocks, .at_once = at_once, .stops_after = stops_after};
}

} // namespace

// A round of strands is {{gate of each one …}, split}.

TEST_CASE("strands, one helper") {
    CHECK(failure({1, {{{0, 0}, 0}, {{0, 0}, 1}}}) == "");
    CHECK(failure({1, {{{0, 1}, 0}, {{0, 2}, 0}}}) == "");
    CHECK(failure({1, {{{0}, 0}, {{0, 2}, 3}, {{}, 0}, {{1}, 0}}, true}) == "");
}

TEST_CASE("strands, two helpers") {
    CHECK(failure({2, {{{0}, 0}, {{0}, 0}}}) == "");
    CHECK(failure({2, {{{0, 0}, 0}}, true}) == "");
    CHECK(failure({2, {{{1}, 0}, {{1}, 0}}, true}) == "");
    CHECK(failure({2, {{{0, 1}, 0}}, true}) == "");
}

TEST_CASE("strands, three helpers") {
    CHECK(failure({3, {{{0}, 0}}, true}) == "");
}

TEST_CASE("strands whose owner breaks off") {
    CHECK(failure({1, {{{0, 0, 1}, 0, 1}, {{0, 0}, 0, 0}}, true}) == "");
    CHECK(failure({2, {{{0, 0}, 0, 1}}, true}) == "");
}

TEST_CASE("stages, one helper") {
    CHECK(failure({1, {stages(2, 2, 1)}, true}) == "");
    CHECK(failure({1, {stages(2, 3, 2)}, true}) == "");
    CHECK(failure({1, {stages(3, 2, 2)}, true}) == "");
}

TEST_CASE("stages, two helpers") {
    CHECK(failure({2, {stages(2, 2, 2)}, true}) == "");
}

TEST_CASE("stages whose owner stops") {
    CHECK(failure({1, {stages(2, 2, 2, 0), stages(1, 2, 1)}, true}) == "");
    CHECK(failure({1, {stages(2, 2, 2, 1)}, true}) == "");
}

TEST_CASE("rounds of stages and of strands") {
    CHECK(failure({1, {stages(2, 2, 1), {{0, 1}, 0}}}) == "");
    CHECK(failure({1, {{{0, 1}, 0}, stages(2, 2, 2)}}) == "");
    CHECK(failure({2, {stages(1, 2, 1), {{0}, 0}}, true}) == "");
}

} // namespace scs::test
