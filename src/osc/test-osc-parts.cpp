// SPDX-License-Identifier: GPL-3.0-or-later
#include "osc/arg-reader.hpp"
#include "osc/clients.hpp"
#include "osc/command-table.hpp"
#include "osc/reply-port.hpp"
#include "osc/status-text.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <span>
#include <string>
#include <unistd.h>

using namespace scs;
using namespace scs::osc;

namespace {

const Endpoint alice = UdpPeer{1, 1}, bob = UdpPeer{1, 2}, carol = UdpPeer{2, 1};

Message by_name(std::string_view address) {
    return {address, -1, {}};
}

Message by_number(int number) {
    return {{}, number, {}};
}

Arg int_arg(int value) {
    Arg arg{Arg::Type::int32, 0, {}};
    arg.i = value;
    return arg;
}

Arg float_arg(float value) {
    Arg arg{Arg::Type::float32, 0, {}};
    arg.f = value;
    return arg;
}

Arg text_arg(const char* text) {
    Arg arg{Arg::Type::string, uint32_t(std::string_view(text).size()), {}};
    arg.s = text;
    return arg;
}

} // namespace

TEST_CASE("client IDs: the requested one if it is free, else the one free for longest") {
    Clients clients(3);
    CHECK(clients.add(alice, 1) == 1);
    CHECK(clients.add(bob, 1) == 0);
    CHECK(clients.find(alice) == 1);
    CHECK_FALSE(clients.find(carol));
    CHECK(clients.add(carol, -1) == 2);
    CHECK(clients.full());

    CHECK(clients.remove(alice));
    CHECK_FALSE(clients.remove(alice));
    CHECK(clients.remove(bob));
    CHECK(clients.all().size() == 1);
    CHECK(clients.add(bob, 7) == 1); // freed before 0
}

TEST_CASE("the command table is sound, and has scsynth's numbers 0 to 66") {
    CHECK(table_mistake(all_commands()) == "");
    for (int number = 0; number <= 66; ++number)
        CHECK(find_command(by_number(number)));
}

TEST_CASE("two rows with the same name or number are found, and rows that cannot work") {
    static constexpr CommandSpec first[] = {{.number = 1, .name = "/a"}, {.name = "/b"}};
    const auto mistake = [](const CommandSpec& row) {
        const std::span<const CommandSpec> sections[] = {first, {&row, 1}};
        return table_mistake(sections);
    };
    CHECK(mistake({.number = 2, .name = "/c"}) == "");
    CHECK(mistake({.name = "/c"}) == "");
    CHECK(mistake({.number = 2, .name = "/b"}) == "/b has two rows");
    CHECK(mistake({.number = 1, .name = "/c"}) == "/c has the number of another command: 1");
    CHECK(mistake({.name = "c"}) == "c has no slash");
    const Handler handler = [](OscCommand&, Engine&) noexcept { return Status(); };
    const Maker maker = [](CommandInit&&) { return std::unique_ptr<OscCommand>(); };
    CHECK(mistake({.name = "/c", .handler = handler, .make = maker}) == "/c has both a handler and a maker");
}

TEST_CASE("commands are found by name, with and without the slash, and by number") {
    for (const auto& [name, number] : {std::pair{"/notify", 1},
                                       {"/status", 2},
                                       {"/s_new", 9},
                                       {"/n_set", 15},
                                       {"/d_recv", 5},
                                       {"/sync", 52},
                                       {"/g_queryTree", 57},
                                       {"/p_new", 63},
                                       {"/version", 64}}) {
        const CommandSpec* spec = find_command(by_name(name));
        REQUIRE(spec);
        CHECK(spec == find_command(by_number(number)));
        CHECK(spec == find_command(by_name(name + 1)));
    }
    CHECK_FALSE(find_command(by_name("/nosuch")));
    for (const int number : {CommandNumber::end - 1, CommandNumber::end, 1000000, -2})
        CHECK_FALSE(find_command(by_number(number)));
}

TEST_CASE("failure texts are scsynth's") {
    CHECK(status_text({Code::node_not_found, 1000}) == "Node 1000 not found");
    CHECK(status_text({Code::target_not_found, -7}) == "target Node -7 not found");
    CHECK(status_text({Code::group_not_found, 1}) == "Group 1 not found");
    CHECK(status_text({Code::cannot_replace_root}) == "can't replace group 0");
    CHECK(status_text({Code::out_of_memory}) == "out of real time memory");
}

TEST_CASE("failures are printed as scsynth prints them") {
    const auto line = [](std::string_view address, std::vector<ReplyArg> args) {
        return failure_line(address, args).value_or("nothing");
    };
    CHECK(line("/fail", {"/n_free", "Node 7 not found"}) == "FAILURE IN SERVER /n_free Node 7 not found");
    CHECK(line("/fail", {"/none", "Command not found"}) == "FAILURE IN SERVER: /none Command not found");
    CHECK(line("/fail", {"/notify", "notify: not registered\n", int32_t(3)}) ==
          "FAILURE IN SERVER /notify notify: not registered");
    CHECK(line("/done", {"/n_free", "Node 7 not found"}) == "nothing");
    // What a SendReply("/fail") sends.
    CHECK(line("/fail", {int32_t(1000), int32_t(1), 0.5f}) == "nothing");
    CHECK(line("/fail", {"/n_free"}) == "nothing");
}

TEST_CASE("arguments convert as forgivingly as scsynth's") {
    const Arg args[] = {float_arg(2.9f), int_arg(-3), text_arg("freq"), text_arg("longer"), int_arg(1)};
    ArgReader reader(args);
    CHECK(reader.remain() == 4 + 4 + 8 + 8 + 4);
    CHECK(reader.get_int() == 2);
    CHECK(reader.get_float() == -3.0f);
    CHECK(reader.at_string());
    CHECK(reader.get_int(5) == 5); // passes over the string
    CHECK(reader.get_string() == "longer");
    CHECK(reader.get_blob().empty());
    CHECK(reader.remain() == 4);
    CHECK(reader.get_string("none") == "none");
    CHECK(reader.tag() == 0);
    CHECK(reader.get_int(7) == 7);
    CHECK(reader.remain() == 0);
}

TEST_CASE("a float out of range is cut to the nearest int") {
    const Arg args[] = {float_arg(1e20f), float_arg(-1e20f), float_arg(0.0f / 0.0f)};
    ArgReader reader(args);
    CHECK(reader.get_int() == 2147483647);
    CHECK(reader.get_int() == -2147483647 - 1);
    CHECK(reader.get_int() == 0);
}
