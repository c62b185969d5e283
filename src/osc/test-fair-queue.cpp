// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/engine.hpp"
#include "osc/fair-queue.hpp"
#include "osc/pending-bundles.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace scs;
using namespace scs::osc;

namespace {

const Endpoint alice = UdpPeer{1, 1}, bob = UdpPeer{1, 2}, carol = TcpPeer{1};
constexpr uint64_t first = 1, second = 2, third = 3; ///< senders
constexpr size_t large = FairQueue::burst;
constexpr size_t plenty = size_t(1) << 30;

std::unique_ptr<CommandBundle> bundle(size_t weight, NtpTime time = immediately, uint64_t sender = 0) {
    auto made = std::make_unique<CommandBundle>();
    made->weight = weight;
    made->time = time;
    made->sender = sender;
    return made;
}

/// Times serve as names: bundles of the first 100, 101 …, of the second 200 …
std::string rest(FairQueue& queue) {
    std::string names;
    while (!queue.empty())
        names += std::to_string(queue.take_first()->time) + " ";
    return names;
}

} // namespace

TEST_CASE("small bundles stay in the order in which they came") {
    FairQueue queue;
    for (NtpTime i = 0; i < 3; ++i) {
        queue.push(bundle(100, 100 + i, first));
        queue.push(bundle(100, 200 + i, second));
    }
    CHECK(rest(queue) == "100 200 101 201 102 202 ");
}

TEST_CASE("what is beyond a burst comes after what others send later") {
    FairQueue queue;
    for (NtpTime i = 0; i < 5; ++i)
        queue.push(bundle(large, 100 + i, first));
    CHECK(queue.take_first()->time == 100);
    queue.push(bundle(large, 200, second));
    queue.push(bundle(10, 300, third));
    CHECK(rest(queue) == "101 200 300 102 103 104 ");
}

TEST_CASE("two who send much alternate") {
    FairQueue queue;
    for (NtpTime i = 0; i < 4; ++i)
        queue.push(bundle(large, 100 + i, first));
    for (NtpTime i = 0; i < 4; ++i)
        queue.push(bundle(large, 200 + i, second));
    CHECK(rest(queue) == "100 101 200 201 102 202 103 203 ");
}

TEST_CASE("time goes on: a sender that waited earlier isn't last for ever") {
    FairQueue queue;
    for (int round = 0; round < 100; ++round)
        queue.push(bundle(large, 100, first));
    while (!queue.empty())
        (void)queue.take_first();
    queue.push(bundle(large, 101, first));
    queue.push(bundle(large, 200, second));
    CHECK(rest(queue) == "101 200 ");
}

TEST_CASE("the first of all, and what each has waiting") {
    FairQueue queue;
    queue.push(bundle(5, 100, first));
    queue.push(bundle(6, 101, first));
    queue.push(bundle(7, 200, second));
    queue.push_first(bundle(8, 1));
    CHECK(queue.size() == 4);
    CHECK(queue.share(first).bundles == 2);
    CHECK(queue.share(first).bytes == 11);
    CHECK(queue.share(first).scheduled == 2);
    CHECK(queue.share(third).bundles == 0);
    CHECK(queue.first().time == 1);
    CHECK(queue.take_first()->time == 1);
    CHECK(queue.take_first()->time == 100);
    CHECK(queue.share(first).bytes == 6);
    CHECK(rest(queue) == "101 200 ");
    CHECK(queue.share(first).bundles == 0);
    CHECK(queue.share(second).bytes == 0);
}

TEST_CASE("a sender who fills the queue leaves room for others") {
    PendingBundles pending;
    size_t taken = 0;
    for (; pending.have_room_for(alice, 1, 0, plenty); ++taken)
        pending.push_back(bundle(100), alice);
    CHECK(taken > Engine::most_bundles * 3 / 4);
    CHECK(taken < Engine::most_bundles);
    CHECK(pending.have_room_for(bob, 1, 0, plenty));
    CHECK(pending.have_room_soon(carol, plenty));
    for (size_t i = 0; i < 100; ++i) {
        REQUIRE(pending.have_room_for(bob, 1, 0, plenty));
        pending.push_back(bundle(100), bob);
    }
}

TEST_CASE("a sender with much for later leaves room for others to plan ahead") {
    auto made = Engine::create(Settings{}, [](const std::string&) {});
    REQUIRE(made);
    constexpr NtpTime in_years = NtpTime(0xff000000) << 32;
    PendingBundles pending;
    size_t taken = 0;
    for (; pending.have_room_for(alice, 1, 1, plenty); ++taken) {
        pending.push_back(bundle(100, in_years), alice);
        if (taken % 2) // as many wait as the engine has
            REQUIRE(pending.submit_first(*made.value()));
    }
    CHECK(taken > 8192 - 10);
    CHECK(taken <= 8192);
    CHECK(pending.have_room_for(alice, 1, 0, plenty));
    for (int i = 0; i < 100; ++i) {
        REQUIRE(pending.have_room_for(bob, 1, 1, plenty));
        pending.push_back(bundle(100, in_years), bob);
    }
    while (pending.any_waiting())
        REQUIRE(pending.submit_first(*made.value()));
    CHECK_FALSE(pending.have_room_for(alice, 1, 1, plenty));
    pending.forget_submitted();
    CHECK(pending.have_room_for(alice, 1, 1, plenty));
}

TEST_CASE("a sender who fills the memory leaves room for others") {
    constexpr size_t memory = 10'000'000;
    PendingBundles pending;
    size_t held = 0;
    for (; held < memory && pending.have_room_for(alice, 1, 0, memory - held); held += 1000)
        pending.push_back(bundle(1000), alice);
    CHECK(held > memory / 2);
    CHECK(held < memory * 3 / 4);
    CHECK(pending.have_room_for(bob, 1, 0, memory - held));
}

TEST_CASE("small requests have room without any memory left, as that which clears it") {
    PendingBundles pending;
    CHECK(pending.have_room_for(alice, 1, 0, 0));
    CHECK(pending.have_room_soon(carol, 0));
    pending.push_back(bundle(1000), alice);
    pending.push_back(bundle(1000), carol);
    CHECK(pending.have_room_for(alice, 1, 0, 0));
    CHECK_FALSE(pending.have_room_soon(carol, 0));
}

TEST_CASE("a sender who can be left waiting takes little") {
    PendingBundles many;
    size_t taken = 0;
    for (; many.have_room_soon(carol, plenty); ++taken)
        many.push_back(bundle(1), carol);
    CHECK(taken > 500);
    CHECK(taken < Engine::most_bundles / 8);
    PendingBundles large_ones;
    size_t bytes = 0;
    for (; large_ones.have_room_soon(carol, plenty); bytes += large)
        large_ones.push_back(bundle(large), carol);
    CHECK(bytes >= large);
    CHECK(bytes <= size_t(1) << 20);
}

TEST_CASE("the engine gets no more at once than it does within a few cycles") {
    auto made = Engine::create(Settings{}, [](const std::string&) {});
    REQUIRE(made);
    Engine& engine = *made.value();
    constexpr NtpTime late = 1, in_years = NtpTime(0xff000000) << 32;
    constexpr size_t weight = 100'000;
    for (const NtpTime time : {immediately, late, in_years}) {
        PendingBundles pending;
        for (int i = 0; i < 100; ++i)
            pending.push_back(bundle(weight, time), alice);
        size_t submitted = 0;
        while (pending.any_waiting() && pending.submit_first(engine))
            ++submitted;
        CAPTURE(time);
        if (time == in_years)
            CHECK(submitted == 100);
        else
            CHECK(submitted == PendingBundles::most_at_once / weight + 1);
    }
}
