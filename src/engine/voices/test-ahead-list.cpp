// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/voices/ahead-list.hpp"

#include <doctest/doctest.h>

#include <initializer_list>

using namespace scs;

namespace {

/// Three lone synths, and the list of their turns.
struct Listed {
    Listed() : list(8) {
        for (Synth& synth : synths)
            synth.facts = &code;
        (void)list.take();
        add({0, 1, 2});
        (void)list.take(); // a walk has begun, in which …
        add({0, 1, 2});    // … they have their turns as in the one before
    }
    void add(std::initializer_list<int> turns) {
        for (const int turn : turns)
            list.add(synths[turn]);
    }

    NativeCode code;
    Synth synths[3];
    AheadList list;
};

} // namespace

TEST_CASE("a list is the same as the one before, whether a walk has made it or it was made between two blocks") {
    Listed f;
    const auto version = f.list.version();
    CHECK(f.list.whole());
    CHECK(f.list.turns().size() == 3);
    f.list.begin();
    f.add({0, 1, 2});
    CHECK((f.list.version() == version));
    CHECK(f.list.whole());
    CHECK(f.list.take().same);
    f.add({0, 1, 2});
    CHECK((f.list.version() == version));
    CHECK(f.list.take().same);
}

TEST_CASE("what has changed before a list is made between two blocks isn't forgotten by the next walk") {
    Listed f;
    const auto version = f.list.version();
    f.list.note_change();
    f.list.begin();
    f.add({0, 1, 2});
    const auto changed = f.list.version();
    CHECK((changed != version));
    f.list.begin();
    f.add({0, 1, 2});
    CHECK((f.list.version() == changed)); // only once
    CHECK_FALSE(f.list.take().same);
    f.add({0, 1, 2});
    CHECK(f.list.take().same);
}

TEST_CASE("other turns, another order, and fewer turns are another list") {
    for (const auto& turns : {std::initializer_list<int>{0, 2, 1}, {0, 1}, {2}}) {
        CAPTURE(turns.size());
        Listed f;
        f.list.begin();
        f.add(turns);
        CHECK_FALSE(f.list.take().same);
    }
    Listed f;
    f.list.remove(f.synths[1].ahead);
    f.list.begin();
    f.add({0, 2});
    CHECK_FALSE(f.list.take().same);
}

TEST_CASE("after a list that wasn't to be trusted none is the same") {
    Listed f;
    f.list.distrust();
    const auto turns = f.list.take();
    CHECK(turns.all.empty());
    CHECK_FALSE(turns.same);
    f.add({0, 1, 2});
    CHECK_FALSE(f.list.take().same);
    f.add({0, 1, 2});
    CHECK(f.list.take().same);
}
