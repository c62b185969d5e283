// SPDX-License-Identifier: GPL-3.0-or-later
// Satellites and parallel groups, as clients make and see them.
#include "osc/test-command-bench.hpp"

using namespace scs::osc::test;

namespace {

/// With the SynthDef "def" of two controls. Nobody is told of nodes before log_in().
struct Bench : CommandBench {
    Bench() {
        const auto bytes = definition("def", 2);
        run(message("/d_recv", {std::span<const std::byte>(bytes)}));
    }
    void log_in() { (*this)("/notify", 1); }
    std::string tree() { return (*this)("/g_queryTree", 0, 0); }
};

} // namespace

TEST_CASE("/sat_new makes a synth that clients find beside its target") {
    Bench bench;
    bench("/s_new", "def", 1, 1, 0);
    bench("/g_new", 2, 1, 0);
    bench.log_in();
    CHECK(bench("/sat_new", "def", 10, 0, 1) == "[ \"/n_go\", 10, 0, -1, 1, 0 ]\n");
    CHECK(bench("/sat_new", "def", 11, 1, 1) == "[ \"/n_go\", 11, 0, 1, 2, 0 ]\n");
    CHECK(bench("/sat_new", "def", 12, 1, 2) == "[ \"/n_go\", 12, 0, 2, -1, 0 ]\n");
    CHECK(bench("/sat_new", "def", 13, 0, "h", 0) == "[ \"/n_go\", 13, 0, -1, 10, 0 ]\n"); // of the head, which is 10
    CHECK(bench("/sat_new", "def", -1, 1, 12) == "");
    CHECK(bench("/n_query", 1) == "[ \"/n_info\", 1, 0, 10, 11, 0 ]\n");
    CHECK(bench("/n_query", "u", 13) == "[ \"/n_info\", 0, -1, -1, -1, 1, 13, -16 ]\n");
    CHECK(bench("/n_query", "nnn", 13, "pp", 2, "t", 0) ==
          "[ \"/n_info\", 11, 0, 1, 2, 0 ]\n[ \"/n_info\", 1, 0, 10, 11, 0 ]\n[ \"/n_info\", -16, 0, 12, -1, 0 ]\n");
    CHECK(bench.tree() ==
          "[ \"/g_queryTree.reply\", 0, 0, 7, 13, -1, \"def\", 10, -1, \"def\", 1, -1, \"def\", 11, -1, "
          "\"def\", 2, 0, 12, -1, \"def\", -16, -1, \"def\" ]\n");
    CHECK(bench("/n_run", 1, 0) == "[ \"/n_off\", 1, 0, 10, 11, 0 ]\n");
    CHECK(bench("/g_tail", 2, 1) == "[ \"/n_move\", 1, 2, 10, 11, 0 ]\n");
    CHECK(bench("/n_order", 0, 2, 1) == ""); // it is in that group
    CHECK(bench("/n_free", 10) == "[ \"/n_end\", 13, -1, -1, -1, 0 ]\n[ \"/n_end\", 10, 2, -1, 1, 0 ]\n");
    bench("/g_dumpTree", 0, 0);
    CHECK(bench.printed() == "NODE TREE Group 0\n   2 group\n      1 def\n      11 def\n   12 def\n   -16 def\n");
    bench("/n_trace", 2);
    CHECK(bench.printed() == "TRACE Group 2\n   1 def\n   11 def\n");
    CHECK(bench("/g_freeAll", 0).find("/fail") == std::string::npos);
    CHECK(bench.tree() == "[ \"/g_queryTree.reply\", 0, 0, 0 ]\n");
}

TEST_CASE("/sat_new takes controls as /s_new does, and /n_set of the group reaches satellites") {
    Bench bench;
    bench("/g_new", 1, 0, 0);
    bench("/s_new", "def", 2, 0, 1);
    CHECK(bench("/sat_new", "def", 3, 1, 2, "c1", 0.5f) == "");
    CHECK(bench("/s_get", 3, "c0", "c1") == "[ \"/n_set\", 3, \"c0\", 0, \"c1\", 0.5 ]\n");
    CHECK(bench("/sat_new", "def", 4, 0, 2, 0, "c7", "c1", 3) == "");
    CHECK(bench("/g_queryTree", 1, 1) ==
          "[ \"/g_queryTree.reply\", 1, 1, 3, 4, -1, \"def\", 2, \"c0\", \"c7\", \"c1\", 3, 2, -1, \"def\", 2, \"c0\", "
          "0, \"c1\", 1, 3, -1, \"def\", 2, \"c0\", 0, \"c1\", 0.5 ]\n");
    CHECK(bench("/n_set", 1, "c1", 9.f) == "");
    CHECK(bench("/s_get", 4, "c1") == "[ \"/n_set\", 4, \"c1\", 9 ]\n");
    CHECK(bench("/n_set", 2, "c1", 8.f) == ""); // the reference alone
    CHECK(bench("/s_get", 3, "c1") == "[ \"/n_set\", 3, \"c1\", 9 ]\n");
}

TEST_CASE("what /sat_new refuses") {
    Bench bench;
    bench("/s_new", "def", 1, 0, 0);
    const auto fail = [](const std::string& text) { return "[ \"/fail\", \"/sat_new\", \"" + text + " ]\n"; };
    const std::string relation = fail("a satellite's relation is 0 (preceding) or 1 (succeeding)\"");
    CHECK(bench("/sat_new", "def", 2, 2, 1) == relation);
    CHECK(bench("/sat_new", "def", 2, -1, 1) == relation);
    CHECK(bench("/sat_new", "none", 2, 0, 1) == fail("SynthDef not found\""));
    CHECK(bench("/sat_new", "def", 2, 0, 7) == fail("Node 7 not found\""));
    CHECK(bench("/sat_new", "def", 1, 0, 1) == fail("duplicate node ID\""));
    CHECK(bench("/sat_new", "def", -2, 0, 1) == fail("negative node IDs are reserved\""));
    CHECK(bench("/sat_new", "def", 2, 0, 0) == fail("group 0 can't have satellites\""));
    CHECK(bench("/sat_new", "def", 2) == fail("group 0 can't have satellites\""));
    CHECK(bench("/sat_new") == fail("wrong argument type\""));
    CHECK(bench("/sat_new", 1, 2, 0, 1) == fail("wrong argument type\""));
    for (int id = 2; id <= 17; ++id)
        CHECK(bench("/sat_new", "def", id, 1, id - 1) == "");
    CHECK(bench("/sat_new", "def", 18, 1, 17) == fail("satellites of satellites are nested too deep\""));
    CHECK(bench("/n_before", 2, 1) == "[ \"/fail\", \"/n_before\", \"a satellite moves only with its reference\" ]\n");
    CHECK(bench("/g_head", 0, 2) == "[ \"/fail\", \"/g_head\", \"a satellite moves only with its reference\" ]\n");
    CHECK(bench("/g_new", 20, 4, 2) == "[ \"/fail\", \"/g_new\", \"a satellite can't be replaced by a group\" ]\n");
    CHECK(bench("/s_new", "def", 2, 4, 2) == "");
    CHECK(bench.tree() == "[ \"/g_queryTree.reply\", 0, 0, 2, 1, -1, \"def\", 2, -1, \"def\" ]\n");
}

TEST_CASE("what is put beside a node with satellites, or beside one of these, stands outside") {
    Bench bench;
    bench("/s_new", "def", 1, 0, 0);
    bench("/sat_new", "def", 2, 0, 1);
    bench("/sat_new", "def", 3, 1, 1);
    bench("/s_new", "def", 4, 2, 1);
    bench("/s_new", "def", 5, 3, 2);
    bench("/g_new", 6, 3, 1);
    CHECK(bench("/g_new", 6, 3, 3) == ""); // it is beside that one already
    bench("/n_before", 6, 3);
    CHECK(bench.tree() ==
          "[ \"/g_queryTree.reply\", 0, 0, 6, 4, -1, \"def\", 6, 0, 2, -1, \"def\", 1, -1, \"def\", 3, -1, "
          "\"def\", 5, -1, \"def\" ]\n");
}

TEST_CASE("/p_new: there is no order to tell in a parallel group, as in supernova") {
    Bench bench;
    bench.log_in();
    CHECK(bench("/p_new", 1, 0, 0) == "[ \"/n_go\", 1, 0, -1, -1, 1, -2, -2 ]\n");
    CHECK(bench("/s_new", "def", 2, 0, 1) == "[ \"/n_go\", 2, 1, -2, -2, 0 ]\n");
    CHECK(bench("/g_new", 3, 1, 1) == "[ \"/n_go\", 3, 1, -2, -2, 1, -1, -1 ]\n");
    CHECK(bench("/s_new", "def", 4, 0, 3) == "[ \"/n_go\", 4, 3, -1, -1, 0 ]\n");
    CHECK(bench("/sat_new", "def", 5, 1, 2) == "[ \"/n_go\", 5, 1, -2, -2, 0 ]\n");
    CHECK(bench("/n_query", 1) == "[ \"/n_info\", 1, 0, -1, -1, 1, -2, -2 ]\n");
    CHECK(bench("/n_free", 2) == "[ \"/n_end\", 5, -1, -1, -1, 0 ]\n[ \"/n_end\", 2, 1, -2, -2, 0 ]\n");
    CHECK(bench.tree() == "[ \"/g_queryTree.reply\", 0, 0, 1, 1, 1, 3, 1, 4, -1, \"def\" ]\n");
    bench("/g_dumpTree", 0, 0);
    CHECK(bench.printed() == "NODE TREE Group 0\n   1 parallel group\n      3 group\n         4 def\n");
    CHECK(bench("/p_new", 1, 4, 3).find("\"/n_go\", 1, ") == std::string::npos); // the ID is taken
    CHECK(bench("/g_new", 1, 4, 1) == "[ \"/n_end\", 4, -1, -1, -1, 0 ]\n[ \"/n_end\", 3, -1, -1, -1, 1, -1, -1 ]\n"
                                      "[ \"/n_go\", 1, 0, -1, -1, 1, -1, -1 ]\n"); // and is no parallel one any more
}

TEST_CASE("the add action 5 (insert) puts a node in front of what is in a group, be it parallel or not") {
    Bench bench;
    bench("/g_new", 1, 0, 0);
    bench("/p_new", 2, 1, 0);
    for (const int group : {1, 2}) {
        CHECK(bench("/s_new", "def", group * 10, 5, group) == "");
        CHECK(bench("/g_new", group * 10 + 1, 5, group) == "");
        CHECK(bench("/p_new", group * 10 + 2, 5, group) == "");
    }
    CHECK(bench.tree() ==
          "[ \"/g_queryTree.reply\", 0, 0, 2, 1, 3, 12, 0, 11, 0, 10, -1, \"def\", 2, 3, 22, 0, 21, 0, 20, "
          "-1, \"def\" ]\n");
    CHECK(bench("/s_new", "def", 30, 5, 10) == "[ \"/fail\", \"/s_new\", \"Group 10 not found\" ]\n");
    CHECK(bench("/g_new", 30, 5, 10) == "[ \"/fail\", \"/g_new\", \"Group 10 not found\" ]\n");
    CHECK(bench("/p_new", 30, 5, 99) == "[ \"/fail\", \"/p_new\", \"Group 99 not found\" ]\n");
    for (const int action : {6, 7, 8, -1}) {
        CHECK(bench("/s_new", "def", 30, action, 1) == "[ \"/fail\", \"/s_new\", \"failed\" ]\n");
        CHECK(bench("/g_new", 30, action, 1) == "[ \"/fail\", \"/g_new\", \"failed\" ]\n");
    }
    CHECK(bench("/n_order", 5, 1, 10) == "[ \"/fail\", \"/n_order\", \"failed\" ]\n");
}
