// SPDX-License-Identifier: GPL-3.0-or-later
// The model that test-interleavings.cpp relies on finds what C++ allows, and no more.
#include "engine/schedule/test-interleavings.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>

using namespace scs::test;

namespace {

constexpr auto relaxed = std::memory_order_relaxed, acquire = std::memory_order_acquire,
               release = std::memory_order_release, seq_cst = std::memory_order_seq_cst;

template <class State>
struct Program final : Interleavings::Threads, State {
    using Body = std::function<void(State&)>;
    explicit Program(const std::vector<Body>& its_bodies) : bodies(its_bodies) {}
    void run(size_t thread) override { bodies[thread](*this); }
    const std::vector<Body>& bodies;
};

using Orders = Interleavings::Orders;

template <class State>
using Bodies = std::vector<std::function<void(State&)>>;

template <class State>
Interleavings::Result explore(const Bodies<State>& bodies, Orders orders) {
    return Interleavings::explore(
        bodies.size(), [&] { return std::make_unique<Program<State>>(bodies); }, orders);
}
/// The first line of the failure. There must be one, too, if only the orders that make a difference are tried.
template <class State>
std::string failure(const Bodies<State>& bodies) {
    const std::string all = explore<State>(bodies, Orders::all).failure;
    CHECK(explore<State>(bodies, Orders::different).failure.empty() == all.empty());
    return all.substr(0, all.find('\n'));
}

struct Message {
    Atomic<int> flag;
    Plain text;
};

std::string pass_message(std::memory_order written, std::memory_order read) {
    const auto send = [=](Message& it) {
        it.text.write(7);
        it.flag.store(1, written);
    };
    const auto receive = [=](Message& it) {
        if (it.flag.load(read))
            Interleavings::require(it.text.read() == 7, "it isn't there");
    };
    return failure<Message>({send, receive});
}

struct Pair {
    Atomic<int> x, y, z;
};

} // namespace

TEST_CASE("a plain variable is safe after a release and an acquire, and with less it is not") {
    CHECK(pass_message(release, acquire) == "");
    CHECK(pass_message(seq_cst, seq_cst) == "");
    CHECK(pass_message(relaxed, acquire).starts_with("a race"));
    CHECK(pass_message(release, relaxed).starts_with("a race"));
}

TEST_CASE("all interleavings are counted once") {
    const auto three_stores = [](Pair& it) {
        for (int i = 0; i < 3; ++i)
            it.x.store(1, relaxed);
    };
    // A thread is begun, and stores three times: 8! / (4! 4!) ways to mix two of these.
    CHECK(explore<Pair>({three_stores, three_stores}, Orders::all).count == 70);
    CHECK(explore<Pair>({three_stores, three_stores, three_stores}, Orders::all).count == 34650);
}

TEST_CASE("two threads that write, then read each other's: only seq_cst has one of them see the other") {
    for (const Orders orders : {Orders::all, Orders::different})
        for (const bool strict : {false, true}) {
            const std::memory_order written = strict ? seq_cst : release, read = strict ? seq_cst : acquire;
            std::set<std::string> found;
            std::array<int, 2> seen{};
            const auto end = [&](Pair& it) {
                if (it.z.fetch_add(1, relaxed) == 1) // the last one
                    found.insert(std::to_string(seen[0]) + std::to_string(seen[1]));
            };
            const auto first = [&](Pair& it) {
                it.x.store(1, written);
                seen[0] = it.y.load(read);
                end(it);
            };
            const auto second = [&](Pair& it) {
                it.y.store(1, written);
                seen[1] = it.x.load(read);
                end(it);
            };
            CHECK(explore<Pair>({first, second}, orders).failure == "");
            CHECK(found ==
                  (strict ? std::set<std::string>{"01", "10", "11"} : std::set<std::string>{"00", "01", "10", "11"}));
        }
}

TEST_CASE("no thread sees the values of a variable in another order than it has them") {
    const auto write = [](Pair& it) {
        it.x.store(1, relaxed);
        it.x.store(2, relaxed);
    };
    const auto read = [](Pair& it) {
        const int first = it.x.load(relaxed), second = it.x.load(relaxed);
        Interleavings::require(second >= first, "it went back");
    };
    CHECK(failure<Pair>({write, read}) == "");
}

TEST_CASE("an addition goes on to publish what was published before, a store does not") {
    const auto send = [](Message& it) {
        it.text.write(7);
        it.flag.store(1, release);
    };
    const auto add = [](Message& it) { it.flag.fetch_add(1, relaxed); };
    const auto store = [](Message& it) {
        if (it.flag.load(relaxed) == 1)
            it.flag.store(2, relaxed);
    };
    const auto receive = [](Message& it) {
        if (it.flag.load(acquire) == 2)
            (void)it.text.read();
    };
    CHECK(failure<Message>({send, add, receive}) == "");
    CHECK(failure<Message>({send, store, receive}).starts_with("a race"));
}

TEST_CASE("of two that exchange a value for theirs, one succeeds") {
    struct Taken {
        Atomic<int> state;
        Plain taker;
    };
    const auto take = [](Taken& it) {
        int expected = 0;
        if (it.state.compare_exchange_strong(expected, 1, relaxed, relaxed))
            it.taker.write(1);
        else
            Interleavings::require(expected == 1, "it failed without a reason");
    };
    CHECK(failure<Taken>({take, take, take}) == "");
}

TEST_CASE("who waits comes back when something was written, and threads that all wait are a failure") {
    const auto wait_for_one = [](Pair& it) {
        while (it.x.load(relaxed) != 1)
            Interleavings::wait(1);
    };
    const auto store = [](int value) { return [=](Pair& it) { it.x.store(value, relaxed); }; };
    CHECK(failure<Pair>({wait_for_one, store(1)}) == "");
    CHECK(failure<Pair>({wait_for_one, store(2)}) == "all threads wait");
}

TEST_CASE("what differs in nothing but the past is looked at once") {
    const auto add = [](Pair& it) {
        for (int i = 0; i < 10; ++i) {
            Interleavings::at(uint64_t(i));
            it.x.fetch_add(1, relaxed);
        }
    };
    const auto result = explore<Pair>({add, add}, Orders::all);
    CHECK(result.count == 705432); // 22! / (11! 11!)
    CHECK(result.states < 2000);
}
