// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/top/json-writer.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

using scs::top::JsonWriter;

TEST_CASE("commas stand between items, whatever these are") {
    JsonWriter json;
    json.begin_object().key("a").number(int64_t(-1)).key("b").begin_list().end_list();
    json.key("c").begin_list().string("x").boolean(true).null().begin_object().end_object().begin_list().number(0.5);
    json.end_list().end_list().key("d").begin_object().key("e").boolean(false).end_object().end_object();
    CHECK(json.take() == R"({"a":-1,"b":[],"c":["x",true,null,{},[0.5]],"d":{"e":false}})");
}

TEST_CASE("numbers") {
    JsonWriter json;
    json.begin_list().number(48000.).number(13.51649).number(1e-9).number(std::numeric_limits<int64_t>::min());
    json.number(NAN).number(double(INFINITY)).literal("5000.000").end_list();
    CHECK(json.take() == "[48000,13.5165,1e-09,-9223372036854775808,0,0,5000.000]");
}

TEST_CASE("numbers that are to come back as they were") {
    JsonWriter json;
    json.begin_list()
        .exact(0.1f)
        .exact(0.1)
        .exact(1.f / 3)
        .exact(440.f)
        .exact(1e30f)
        .exact(NAN)
        .exact(-INFINITY)
        .end_list();
    CHECK(json.take() == "[0.1,0.1,0.33333334,440,1e+30,null,null]");
}

TEST_CASE("strings and keys hold anything") {
    JsonWriter json;
    json.begin_object().key("k\"\n").string("a\\b\x01\xff é").end_object();
    CHECK(json.take() == "{\"k\\\"\\u000a\":\"a\\\\b\\u0001\xef\xbf\xbd é\"}");
}

TEST_CASE("lines, and pieces that are taken on the way") {
    JsonWriter json;
    json.begin_list().new_line().number(int64_t(1)).new_line();
    CHECK(json.size() == 3);
    std::string text = json.take();
    CHECK(json.size() == 0);
    json.number(int64_t(2)).new_line().end_list();
    CHECK(text + json.take() == "[\n1,\n2\n]");
}
