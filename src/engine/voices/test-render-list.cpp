// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/voices/render-list.hpp"

#include <doctest/doctest.h>

#include <initializer_list>
#include <vector>

using namespace scs;

namespace {

/// Lone synths, and a list of some of them.
struct Listed {
    Listed() : list(4) {
        for (Synth& synth : synths)
            synth.facts = &code;
        make({0, 1, 2});
    }
    void add(std::initializer_list<int> which) {
        for (const int one : which)
            list.add(synths[one]);
    }
    void make(std::initializer_list<int> which) {
        list.begin();
        add(which);
        list.end();
    }
    std::vector<int> items() const {
        std::vector<int> found;
        for (const Item& item : list.items())
            found.push_back(int(item.lone - synths));
        return found;
    }

    NativeCode code;
    Synth synths[6];
    RenderList list;
};

} // namespace

TEST_CASE("a list is current until something changes, and its version stays as long") {
    CHECK_FALSE(RenderList(4).current());
    Listed f;
    const uint32_t version = f.list.version();
    CHECK(f.list.current());
    CHECK(f.list.whole());
    CHECK(f.list.complete());
    f.list.note_change();
    CHECK_FALSE(f.list.current());
    f.list.begin();
    f.add({0, 1});
    CHECK_FALSE(f.list.current()); // it isn't made to its end
    f.list.end();
    CHECK(f.list.current());
    CHECK(f.list.version() != version);
}

TEST_CASE("an item is listed once, where it comes first, whatever the last list was") {
    Listed f;
    f.make({2, 0, 2, 0, 1});
    CHECK(f.items() == std::vector<int>{2, 0, 1});
    f.make({1, 3, 1});
    CHECK(f.items() == std::vector<int>{1, 3});
    CHECK(f.synths[3].ahead.listed == 1);
    f.make({0, 2});
    CHECK(f.items() == std::vector<int>{0, 2});
}

TEST_CASE("with a newcomer it isn't known what items find, with other work a walk is needed") {
    Listed f;
    f.list.begin();
    f.add({0});
    f.list.need_walk();
    f.add({1});
    CHECK_FALSE(f.list.whole());
    CHECK(f.list.complete());
    f.list.add_newcomer();
    f.add({2});
    CHECK_FALSE(f.list.complete());
    CHECK(f.items() == std::vector<int>{0, 1, 2});
    f.list.begin();
    CHECK(f.list.whole());
    CHECK(f.list.complete());
}

TEST_CASE("nothing is listed after what may change other nodes, nor what there is no room for") {
    Listed f;
    f.list.begin();
    f.add({0});
    f.list.end_early();
    CHECK(f.list.ended());
    f.add({1});
    CHECK(f.items() == std::vector<int>{0});
    CHECK_FALSE(f.list.whole());
    f.make({0, 1, 2, 3});
    CHECK(f.list.whole());
    f.make({0, 1, 2, 3, 4, 0, 5});
    CHECK(f.items() == std::vector<int>{0, 1, 2, 3});
    CHECK(f.list.ended());
    CHECK_FALSE(f.list.whole());
}

TEST_CASE("a list knows whether an item reads buses") {
    Listed f;
    NativeCode reader;
    reader.reads = true;
    CHECK_FALSE(f.list.reads());
    f.synths[1].facts = &reader;
    f.make({0, 1});
    CHECK(f.list.reads());
    f.make({0, 2});
    CHECK_FALSE(f.list.reads());
}

TEST_CASE("a voice may start before items only if none of them draws, and no newcomer is among them") {
    Listed f;
    CHECK(f.list.lets_start());
    NativeCode drawing;
    drawing.draws = true;
    f.synths[1].facts = &drawing;
    f.make({0});
    CHECK(f.list.lets_start());
    f.make({0, 1});
    CHECK_FALSE(f.list.lets_start());
    f.list.begin();
    CHECK(f.list.lets_start());
    f.list.add_newcomer();
    CHECK_FALSE(f.list.lets_start());
}
