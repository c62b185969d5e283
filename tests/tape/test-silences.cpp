// SPDX-License-Identifier: GPL-3.0-or-later
#include "silences.hpp"

#include <doctest/doctest.h>

#include <unistd.h>

#include <cerrno>
#include <sys/mman.h>
#include <vector>

using scs::test::MappedFile;
using scs::test::Silences;
using scs::test::SilencesHeader;

namespace {

constexpr uint64_t ms = 1'000'000;

/// A listener at 1 kHz, so that a frame is 1 ms, and its file.
class Heard {
public:
    Heard() {
        REQUIRE(fd_ >= 0);
        REQUIRE(listener_.open(path_) == 0);
        REQUIRE(file_.open(path_, sizeof(SilencesHeader)) == 0);
    }
    ~Heard() { close(fd_); }
    Heard(const Heard&) = delete;
    Heard& operator=(const Heard&) = delete;

    /// A cycle that begins at that time in ms; nothing at all on the second channel.
    void cycle(uint64_t time, const std::vector<float>& left) { cycle(listener_, time, left); }
    void cycle(Silences& listener, uint64_t time, const std::vector<float>& left) {
        const float* const channels[] = {left.data(), nullptr};
        listener.record(time * ms, uint32_t(left.size()), 1000, channels);
    }
    const std::string& path() const { return path_; }
    const SilencesHeader& header() const { return *static_cast<const SilencesHeader*>(file_.memory()); }

private:
    int fd_ = memfd_create("silences", MFD_CLOEXEC);
    std::string path_ = "/proc/self/fd/" + std::to_string(fd_);
    Silences listener_;
    MappedFile file_;
};

} // namespace

TEST_CASE("a silence within a cycle and across cycles") {
    Heard heard;
    heard.cycle(100, {0.1f, -0.1f, 0, 0, 0.1f});
    CHECK(heard.header().heard == 104 * ms);
    CHECK(heard.header().frames == 5);
    CHECK(heard.header().count == 0); // 3 ms
    heard.cycle(105, {0, 0, 0, 0, 0, 0, -0.1f, 0});
    REQUIRE(heard.header().count == 1);
    CHECK(heard.header().silences[0].end == 111 * ms);
    CHECK(heard.header().silences[0].length == 7 * ms);
}

TEST_CASE("cycles that are left out are a silence") {
    Heard heard;
    heard.cycle(100, {0.1f, 0.1f});
    heard.cycle(102, {0.1f, 0.1f});
    CHECK(heard.header().count == 0);
    heard.cycle(200, {0.1f, 0.1f});
    REQUIRE(heard.header().count == 1);
    CHECK(heard.header().silences[0].length == 97 * ms);
}

TEST_CASE("before the first sound nothing counts") {
    Heard heard;
    heard.cycle(100, std::vector<float>(50));
    heard.cycle(150, {0.1f});
    CHECK(heard.header().count == 0);
}

TEST_CASE("a clock that goes back is no silence") {
    Heard heard;
    heard.cycle(100, {0.1f});
    heard.cycle(90, {0.1f});
    CHECK(heard.header().count == 0);
    CHECK(heard.header().heard == 100 * ms);
}

TEST_CASE("another listener goes on in the same file") {
    Heard heard;
    heard.cycle(100, {0.1f});
    Silences next;
    REQUIRE(next.open(heard.path()) == 0);
    heard.cycle(next, 400, {0.1f});
    REQUIRE(heard.header().count == 1);
    CHECK(heard.header().silences[0].length == 300 * ms);
}

TEST_CASE("more silences than there is room for") {
    Heard heard;
    for (uint64_t i = 0; i < SilencesHeader::room + 2; ++i)
        heard.cycle(100 + 10 * i, {0.1f});
    CHECK(heard.header().count == SilencesHeader::room + 1);
    CHECK(heard.header().silences[0].end == (100 + 10 * (SilencesHeader::room + 1)) * ms);
}

TEST_CASE("a file that is not there") {
    Silences listener;
    CHECK(listener.open("/nowhere/at/all") == -ENOENT);
}
