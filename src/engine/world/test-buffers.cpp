// SPDX-License-Identifier: GPL-3.0-or-later
// The table of buffers.
#include "engine/base/settings.hpp"
#include "engine/world/buffers.hpp"
#include "engine/world/streams.hpp"

#include <doctest/doctest.h>
#include <fstream>
#include <sys/resource.h>
#include <unistd.h>

using namespace scs;

namespace {

/// Bytes of this process that are in memory.
int64_t resident() {
    int64_t all = 0, resident = 0;
    std::ifstream("/proc/self/statm") >> all >> resident;
    return resident * sysconf(_SC_PAGESIZE);
}

/// How often this process has waited for a page.
int64_t page_faults() {
    rusage usage{};
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_minflt + usage.ru_majflt;
}

} // namespace

TEST_CASE("the table is in memory as far as buffers were made, before the data loop reads or writes there") {
    constexpr int64_t mib = 1 << 20;
    const int count = most_buffers;
    const int64_t before = resident();
    Streams streams(true);
    Buffers buffers(count, streams);
    CHECK(resident() - before < 4 * mib); // of 1 GiB
    const Buffer one{nullptr, 64, 1, 48000.};
    const int made[] = {0, 1, 73, 1 << 20, count / 2, count - 1}; // 73: over the border of two pages
    for (const int index : made)
        buffers.set_latest(index, one);
    CHECK(resident() - before < 4 * mib + 6 * 5 * sysconf(_SC_PAGESIZE));

    const int64_t faults = page_faults();
    for (const int index : made)
        buffers.install(index, one);
    for (int index = 0; index < count; index += 1009)
        (void)buffers.get(index);
    CHECK(page_faults() == faults);
    for (const int index : made) {
        CHECK(buffers.get(index).frames == 64);
        CHECK(buffers.latest(index).frames == 64);
    }
    CHECK(buffers.get(2).frames == 0);
    CHECK(buffers.latest(count - 2).frames == 0);
}
