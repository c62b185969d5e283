// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/status/text.hpp"

#include "cli/status/test-contents.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <sstream>

using namespace scs::status;
using namespace scs::status::test;

namespace {

std::vector<std::string> lines(const std::string& text) {
    std::istringstream stream(text);
    std::vector<std::string> all;
    for (std::string line; std::getline(stream, line);)
        all.push_back(line);
    return all;
}

bool has(const std::string& text, const std::string& line) {
    const auto all = lines(text);
    return std::find(all.begin(), all.end(), line) != all.end();
}

} // namespace

TEST_CASE("all of it, aligned") {
    CHECK(to_text(contents(), around(), "127.0.0.1:57110", {}) ==
          R"(pw-scsynth 1.2.3 at 127.0.0.1:57110, units as in SuperCollider 3.13
  node     scsynth-57110
  driver   Built-in Audio (api.alsa.0), 48000 Hz, quantum 480 (10.0 ms)
  engine   44100 Hz, blocks of 64 frames, 2 threads, 2 in, 4 out
  load     12.2 %, peak 20.0 %, limit 70 %
  memory   8000 of 8192 KiB free
  overload 3 synths paused now

Nodes: 3 groups, 2 synths
  0 group
    1 group (paused)
      1000 default (paused)  freq 440.5 c4  amp 0.1
    2 parallel group
      -8 x

SynthDefs: 2
  default  freq 440
  x

Buffers: 1
     3  100 x 2, 44100 Hz, a file is open

Bindings: 1
     5  /bind_keys bass 1 0.5

Devices: 2
  sink    Built-in Audio (FL,FR)
  source  Mic
)");
}

TEST_CASE("what isn't known is left out") {
    Contents empty;
    empty.whole = false;
    const std::string text = to_text(empty, {}, "192.0.2.7:57110", {});
    CHECK(has(text, "? ? at 192.0.2.7:57110, units as in SuperCollider ?"));
    CHECK(has(text, "  driver   none yet: nothing has driven it"));
    CHECK(has(text, "  tree     nodes come and go so fast that some are missing here"));
    CHECK(has(text, "Nodes: 0 groups, 0 synths"));
    CHECK(text.find("Devices") == text.npos);
    CHECK(text.find("Buffers") == text.npos);
}

TEST_CASE("long lists and lines have limits, which --all lifts") {
    Contents large = contents();
    for (int32_t id = 2000; id < 2100; ++id)
        large.nodes.push_back(synth(id, 2, "many"));
    for (int32_t id = 3000; id < 3100; ++id)
        large.nodes.push_back(group(id, 0));
    for (int i = 0; i < 1000; ++i)
        large.nodes[2].controls.push_back({"control" + std::to_string(i), 0.25f});
    for (int32_t i = 0; i < 26; ++i)
        large.buffers.push_back({100 + i, 1, 1, 48000, false});
    large.synthdefs = std::vector<SynthDef>(25, SynthDef{"same", 0, 0, false, {}});
    const std::string text = to_text(large, {}, "x", {.width = 80, .all = false});
    for (const std::string& line : lines(text))
        CHECK(line.size() <= 80);
    CHECK(lines(text).size() < 48 + 24 + 25 + 30);
    CHECK(has(text, "Nodes: 103 groups, 102 synths"));
    // Of a group eight synths, of all nodes 48.
    CHECK(text.find("2006 many") != text.npos);
    CHECK(text.find("2007 many") == text.npos);
    CHECK(text.find("3000 group") != text.npos);
    CHECK(has(text, "      ... 93 more synths")); // of 101
    CHECK(has(text, "  ... " + std::to_string(5 + 7 + 1 + 100 - 48) + " more lines, --all shows them"));
    CHECK(has(text, "  ... 3 more lines, --all shows them")); // buffers
    CHECK(std::ranges::count(lines(text), "  same") == 25);   // one more than the limit is shown, too
    CHECK(text.find("control5 0.25") == text.npos);

    const std::string all = to_text(large, {}, "x", {.width = 80, .all = true});
    CHECK(all.find("... ") == all.npos);
    CHECK(all.find("control999 0.25") != all.npos);
    CHECK(all.find("2099 many") != all.npos);
    CHECK(all.find("3099 group") != all.npos);
}

TEST_CASE("names can't move a cursor, and a deep tree doesn't run away") {
    Contents wild;
    wild.figures = {{"version", "\x1b[2J"}};
    wild.nodes.push_back(group(0, -1));
    for (int32_t id = 1; id < 2000; ++id)
        wild.nodes.push_back(group(id, id - 1));
    wild.nodes.push_back(synth(5000, 777'777, "or\nphan", {{"a\tb", "c\n1"}}));
    const std::string text = to_text(wild, {}, "x", {.width = 80, .all = true});
    CHECK(text.find('\x1b') == text.npos);
    CHECK(has(text, "    5000 or\\x0aphan  a\\x09b c\\x0a1"));
    for (const std::string& line : lines(text))
        CHECK(line.size() <= 80);
}
