// SPDX-License-Identifier: GPL-3.0-or-later
#include "tape-file.hpp"

#include <doctest/doctest.h>

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

using scs::test::TapeFile;
using scs::test::TapeHeader;

namespace {

/// A tape for 100 frames of two channels, past the first cycle, and its file as a reader sees it.
class Recorded {
public:
    Recorded() {
        REQUIRE(fd_ >= 0);
        REQUIRE(tape_.open("/proc/self/fd/" + std::to_string(fd_), 2, 100) == 0);
        void* memory = mmap(nullptr, size_, PROT_READ, MAP_SHARED, fd_, 0);
        REQUIRE(memory != MAP_FAILED);
        header_ = static_cast<const TapeHeader*>(memory);
        cycle(0, 10, false);
        cycle(100, 10);
        REQUIRE(header_->frames == 0);
    }
    ~Recorded() {
        munmap(const_cast<TapeHeader*>(header_), size_);
        close(fd_);
    }
    Recorded(const Recorded&) = delete;
    Recorded& operator=(const Recorded&) = delete;

    /// A cycle of that many frames with the values 1 and 2, or with nothing on the second channel.
    void cycle(uint64_t position, uint32_t frames, bool complete = true) {
        const std::vector<float> left(frames, 1.f), right(frames, 2.f);
        const float* const channels[] = {left.data(), complete ? right.data() : nullptr};
        tape_.record(position, frames, 48000, channels);
    }
    const TapeHeader& header() const { return *header_; }
    const float* samples() const { return reinterpret_cast<const float*>(header_ + 1); }

private:
    static constexpr size_t size_ = sizeof(TapeHeader) + 2 * 100 * sizeof(float);
    int fd_ = memfd_create("tape", MFD_CLOEXEC);
    TapeFile tape_;
    const TapeHeader* header_ = nullptr;
};

} // namespace

TEST_CASE("cycle after cycle") {
    Recorded tape;
    tape.cycle(1000, 10);
    tape.cycle(1010, 10);
    CHECK(tape.header().channels == 2);
    CHECK(tape.header().rate == 48000);
    CHECK(tape.header().frames == 20);
    CHECK(tape.samples()[38] == 1.f);
    CHECK(tape.samples()[39] == 2.f);
    CHECK(tape.header().leaps == 0);
    CHECK(tape.header().empty == 0);
}

TEST_CASE("a cycle left out is a leap, and one that comes twice") {
    Recorded tape;
    tape.cycle(0, 10);
    tape.cycle(20, 10);
    CHECK(tape.header().leaps == 1);
    tape.cycle(20, 10);
    CHECK(tape.header().leaps == 2);
}

TEST_CASE("another duration is no leap, wherever the position is counted to") {
    Recorded begins, ends;
    begins.cycle(0, 10);
    begins.cycle(10, 20);
    begins.cycle(30, 5);
    CHECK(begins.header().leaps == 0);
    ends.cycle(10, 10);
    ends.cycle(30, 20);
    ends.cycle(35, 5);
    CHECK(ends.header().leaps == 0);
}

TEST_CASE("a channel without anything is counted and silent") {
    Recorded tape;
    tape.cycle(50, 10);
    CHECK(tape.header().empty == 0);
    tape.cycle(60, 10, false);
    CHECK(tape.header().empty == 1);
    CHECK(tape.header().leaps == 0);
    CHECK(tape.header().frames == 20);
    CHECK(tape.samples()[38] == 1.f);
    CHECK(tape.samples()[39] == 0.f);
}

TEST_CASE("a full tape says so and keeps what it has") {
    Recorded tape;
    tape.cycle(0, 60);
    CHECK(tape.header().full == 0);
    tape.cycle(60, 60);
    CHECK(tape.header().full == 1);
    CHECK(tape.header().frames == 60);
}

TEST_CASE("a file that is not there") {
    TapeFile tape;
    CHECK(tape.open("/nowhere/at/all", 2, 100) == -ENOENT);
}
