// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/rt/ntp-time.hpp"

#include <doctest/doctest.h>

#include <initializer_list>

using namespace scs;

constexpr NtpTime second = NtpTime{1} << 32;

TEST_CASE("unix time becomes NTP time") {
    CHECK(ntp_from_unix(0, 0) == NtpTime{0x83aa7e80} << 32);
    CHECK(ntp_from_unix(1'700'000'000, 500'000'000) == (NtpTime{1'700'000'000 + 2'208'988'800} << 32 | 0x80000000));
    CHECK(ntp_from_unix(-1, 999'999'999) < ntp_from_unix(0, 0));
    CHECK(ntp_from_unix(2'085'978'496, 0) == 0); // the wrap of 2036
}

TEST_CASE("differences are signed and survive the wrap of 2036") {
    const NtpTime start = ntp_from_unix(2'085'978'495, 0);
    CHECK(ntp_seconds_between(start, start + 2 * second) == 2.0);
    CHECK(ntp_seconds_between(start + 2 * second, start) == -2.0);
    CHECK(ntp_seconds_between(start, start + second / 4) == 0.25);
    CHECK(ntp_ticks_between(start + 1, start) == -1);
}

TEST_CASE("advancing by frames does not drift") {
    const NtpTime start = ntp_from_unix(1'700'000'000, 123'456'789);
    for (const int64_t rate : {8'000, 44'100, 48'000, 192'000}) {
        const int64_t days = 3'650;
        CHECK(ntp_advance(start, days * 86'400 * rate, double(rate)) == start + days * 86'400 * second);
        CHECK(ntp_advance(start, -rate * 3, double(rate)) == start - 3 * second);
    }
    CHECK(ntp_advance(start, 0, 44'100) == start);
    CHECK(ntp_advance(start, 12'000, 48'000) == start + second / 4);
    CHECK(ntp_advance(start, -12'000, 48'000) == start - second / 4);
    CHECK(ntp_advance(start, 1, 44'100) == start + 97'392); // 97391.55
    CHECK(ntp_advance(start, 3'650 * 86'400 * int64_t{44'100} + 1, 44'100) == start + 3'650 * 86'400 * second + 97'392);
    CHECK(ntp_advance(start, 201, 100.5) == start + 2 * second);
}
