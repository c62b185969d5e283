// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/top/keys.hpp"
#include "engine/base/printable.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>

using namespace scs::top;
using Kind = Key::Kind;

namespace {

constexpr Extent extent{.rows = 30, .page = 10, .deepest = 3};

/// A character, or a key without one.
Key key_of(std::string_view character) {
    if (character == "\r")
        return {Kind::enter, ""};
    if (character == "\x7f")
        return {Kind::erase, ""};
    if (character == "\x1b")
        return {Kind::escape, ""};
    return {Kind::text, std::string(character)};
}

/// Presses all keys; false if one of them quits.
bool press_all(View& view, std::string_view input) {
    bool stays = true;
    while (!input.empty()) {
        const size_t bytes = std::max<size_t>(scs::printable_bytes(input), 1);
        stays = press(key_of(input.substr(0, bytes)), view, extent) && stays;
        input.remove_prefix(bytes);
    }
    return stays;
}

void press_kinds(View& view, std::initializer_list<Kind> kinds) {
    for (const Kind kind : kinds)
        press({kind, ""}, view, extent);
}

} // namespace

TEST_CASE("letters") {
    View view;
    CHECK(press_all(view, "v"));
    CHECK(view.sort == Sort::voices);
    press_all(view, "n");
    CHECK(view.sort == Sort::name);
    press_all(view, "s");
    CHECK(view.sort == Sort::cost);
    press_all(view, "s");
    CHECK(view.sort == Sort::voices);
    press_all(view, "c");
    CHECK(view.sort == Sort::cost);
    press_all(view, "p");
    CHECK(view.held);
    press_all(view, " ");
    CHECK_FALSE(view.held);
    press_all(view, "h");
    CHECK(view.help);
    press_all(view, "?");
    CHECK_FALSE(view.help);
    press_all(view, "h\x1b");
    CHECK_FALSE(view.help);
    CHECK(press_all(view, "xQ×\r\x7f"));
    CHECK_FALSE(press_all(view, "q"));
}

TEST_CASE("a filter is typed") {
    View view;
    view.first_row = 5;
    CHECK(press_all(view, "/qé×"));
    CHECK(view.typing);
    CHECK(view.filter == "qé×");
    CHECK(view.first_row == 0);
    press_all(view, "\x7f\x7f");
    CHECK(view.filter == "q");
    press_all(view, "\x7f\x7f\x7f");
    CHECK(view.filter.empty());
    press_all(view, "ab\r");
    CHECK_FALSE(view.typing);
    CHECK(view.filter == "ab");
    press_all(view, "/c");
    CHECK(view.filter == "abc");
    press_all(view, "\x1b");
    CHECK_FALSE(view.typing);
    CHECK(view.filter.empty());
    press_all(view, "/" + std::string(300, 'x') + "\r");
    CHECK(view.filter.size() == 255);
    press_all(view, "\x1b");
    CHECK(view.filter.empty());
}

TEST_CASE("folding goes from all depths to the first group, and back") {
    View view;
    press_all(view, "+");
    CHECK(view.depth == View::all_depths);
    press_all(view, "-");
    CHECK(view.depth == 2);
    press_all(view, "---");
    CHECK(view.depth == 0);
    press_all(view, "+=");
    CHECK(view.depth == 2);
    press_all(view, "+");
    CHECK(view.depth == View::all_depths);
    CHECK(press(Key{Kind::text, "-"}, view, {}));
    CHECK(view.depth == View::all_depths); // there is one depth only
}

TEST_CASE("scrolling stays within the tree") {
    View view;
    press_kinds(view, {Kind::up});
    CHECK(view.first_row == 0);
    press_kinds(view, {Kind::down, Kind::down, Kind::up});
    CHECK(view.first_row == 1);
    press_kinds(view, {Kind::page_down});
    CHECK(view.first_row == 11);
    press_kinds(view, {Kind::page_down});
    CHECK(view.first_row == 20);
    press_kinds(view, {Kind::page_up});
    CHECK(view.first_row == 10);
    press_kinds(view, {Kind::end});
    CHECK(view.first_row == 20);
    press_kinds(view, {Kind::home});
    CHECK(view.first_row == 0);
}
