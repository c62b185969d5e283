// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/top/keys.hpp"

#include <doctest/doctest.h>

#include <string_view>
#include <vector>

using namespace scs::top;
using Kind = Key::Kind;

namespace {

constexpr Extent extent{.rows = 30, .page = 10, .deepest = 3};

std::vector<Kind> kinds(std::string input, bool at_end = true) {
    std::vector<Kind> found;
    while (const auto key = take_key(input, at_end))
        found.push_back(key->kind);
    return found;
}

/// Presses all keys; false if one of them quits.
bool press_all(View& view, std::string input) {
    bool stays = true;
    while (const auto key = take_key(input, true))
        stays = press(*key, view, extent) && stays;
    return stays;
}

} // namespace

TEST_CASE("keys as terminals send them") {
    CHECK(kinds("\x1b[A\x1b[B\x1bOA\x1b[5~\x1b[6~\x1b[H\x1b[F\x1b[1~\x1b[4~") ==
          std::vector{Kind::up, Kind::down, Kind::up, Kind::page_up, Kind::page_down, Kind::home, Kind::end, Kind::home,
                      Kind::end});
    CHECK(kinds("q\r\n\x7f\b\x1b") ==
          std::vector{Kind::text, Kind::enter, Kind::enter, Kind::erase, Kind::erase, Kind::escape});
    CHECK(kinds("\x1b[1;5C\x1b[200~\x01\x80\xff") == std::vector<Kind>{}); // of no use here
    std::string text = "é×x";
    CHECK(take_key(text, false)->text == "é");
    CHECK(take_key(text, false)->text == "×");
    CHECK(text == "x");
}

TEST_CASE("a key that has not come whole is waited for") {
    for (const char* part : {"\x1b", "\x1b[", "\x1b[5", "\xc3"}) {
        std::string input = part;
        CHECK_FALSE(take_key(input, false));
        CHECK(input == part);
    }
    std::string input = "\x1b[";
    input += "A";
    CHECK(take_key(input, false)->kind == Kind::up);
    CHECK(input.empty());
    std::string escape = "\x1b";
    CHECK(take_key(escape, true)->kind == Kind::escape);
    std::string cut = "\x1b[";
    CHECK_FALSE(take_key(cut, true));
    CHECK(cut.empty());
}

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
    press_all(view, "\x1b[A");
    CHECK(view.first_row == 0);
    press_all(view, "\x1b[B\x1b[B\x1b[A");
    CHECK(view.first_row == 1);
    press_all(view, "\x1b[6~");
    CHECK(view.first_row == 11);
    press_all(view, "\x1b[6~");
    CHECK(view.first_row == 20);
    press_all(view, "\x1b[5~");
    CHECK(view.first_row == 10);
    press_all(view, "\x1b[F");
    CHECK(view.first_row == 20);
    press_all(view, "\x1b[H");
    CHECK(view.first_row == 0);
}
