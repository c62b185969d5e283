// SPDX-License-Identifier: GPL-3.0-or-later
#include "clicks.hpp"

#include <doctest/doctest.h>

#include <unistd.h>

#include <cerrno>
#include <sys/mman.h>
#include <vector>

using scs::test::Clicks;
using scs::test::ClicksHeader;
using scs::test::MappedFile;

namespace {

constexpr int64_t ms = 1'000'000;

/// A listener at 1 kHz, so that a frame is 1 ms and it is deaf for 5 frames, and its file.
class Heard {
public:
    Heard() {
        REQUIRE(fd_ >= 0);
        REQUIRE(listener_.open(path_, 2) == 0);
        REQUIRE(file_.open(path_, sizeof(ClicksHeader)) == 0);
    }
    ~Heard() { close(fd_); }
    Heard(const Heard&) = delete;
    Heard& operator=(const Heard&) = delete;

    /// A cycle at that position, and as many ms; nothing at all on the first channel.
    void cycle(uint64_t position, const std::vector<float>& right) {
        const float* const channels[] = {nullptr, right.data()};
        listener_.record({int64_t(position) * ms, position, uint32_t(right.size()), 1000}, channels);
    }
    const ClicksHeader& header() const { return *static_cast<const ClicksHeader*>(file_.memory()); }

private:
    int fd_ = memfd_create("clicks", MFD_CLOEXEC);
    std::string path_ = "/proc/self/fd/" + std::to_string(fd_);
    Clicks listener_;
    MappedFile file_;
};

} // namespace

TEST_CASE("a click is where its sample is, also at a cycle's end") {
    Heard heard;
    heard.cycle(100, {0, 0, -0.5f, 0});
    heard.cycle(104, {0, 0, 0, 0, 0, 0, 0, 0.5f});
    CHECK(heard.header().count == 1);
    heard.cycle(112, {0, 0});
    REQUIRE(heard.header().count == 2);
    CHECK(heard.header().clicks[0].wall == 102 * ms);
    CHECK(heard.header().clicks[0].position == 102);
    CHECK(heard.header().clicks[0].channel == 1);
    CHECK(heard.header().clicks[1].wall == 111 * ms);
    CHECK(heard.header().clicks[1].position == 111);
    CHECK(heard.header().cycles == 3);
    CHECK(heard.header().leaps == 0);
}

TEST_CASE("a click between two frames") {
    Heard heard;
    heard.cycle(100, {0, 0.1f, 0.4f, 0.4f, 0.1f, 0});
    REQUIRE(heard.header().count == 1);
    CHECK(heard.header().clicks[0].position == doctest::Approx(102.5));
}

TEST_CASE("what is silent, and what follows a click, is none") {
    Heard heard;
    heard.cycle(100, {0, 0.1f, 0, 0.5f, 0, 0.3f, 0, 0});
    CHECK(heard.header().count == 1);
    heard.cycle(108, {0, 0.3f, 0});
    CHECK(heard.header().count == 2);
}

TEST_CASE("a lost cycle is a leap") {
    Heard heard;
    heard.cycle(100, {0, 0});
    heard.cycle(104, {0, 0});
    CHECK(heard.header().leaps == 1);
}

TEST_CASE("a file that is not there") {
    Clicks listener;
    CHECK(listener.open("/nowhere/at/all", 1) == -ENOENT);
}
