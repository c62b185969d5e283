// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <string>
#include <vector>

namespace scs::bench {

/// How long each of many cycles takes, ns, in the file that bench/histograms.py reads: 32-bit numbers in the order of
/// the cycles. Between two cycles nothing is done but waiting, if they have a pace.
class CycleTimes {
public:
    /// nsec: from one cycle's begin to the next one's, 0: back to back. Then there is a rest now and then, without
    /// which the kernel would give a thread with a real-time priority one that lasts longer.
    explicit CycleTimes(size_t count, int64_t nsec = 0) : nsec_(count), period_(nsec) { nsec_.clear(); }

    bool complete() const { return nsec_.size() == nsec_.capacity(); }
    /// Waits until it is time for a cycle.
    void wait() {
        const int64_t present = read();
        if (period_) {
            next_ = std::max(next_ + period_, present);
            sleep_until(next_);
        } else if (present > next_) {
            sleep_until(present + rest);
            next_ = read() + work;
        }
    }
    /// A cycle: what it takes is noted.
    template <class Cycle>
    void measure(Cycle&& cycle) {
        const int64_t began = read();
        cycle();
        nsec_.push_back(uint32_t(std::min<int64_t>(read() - began, UINT32_MAX)));
    }
    /// Writes the file, whole as soon as it has its name. false: it couldn't.
    bool write(const std::string& path) const {
        const std::string unfinished = path + ".part";
        std::FILE* file = std::fopen(unfinished.c_str(), "wb");
        if (!file)
            return false;
        const bool written = std::fwrite(nsec_.data(), sizeof(uint32_t), nsec_.size(), file) == nsec_.size();
        return std::fclose(file) == 0 && written && std::rename(unfinished.c_str(), path.c_str()) == 0;
    }

private:
    static constexpr int64_t second = 1'000'000'000, work = 50'000'000, rest = 5'000'000; // ns
    static int64_t read() {
        timespec t;
        clock_gettime(CLOCK_MONOTONIC, &t);
        return t.tv_sec * second + t.tv_nsec;
    }
    static void sleep_until(int64_t moment) {
        const timespec at{moment / second, moment % second};
        while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, nullptr) == EINTR) {
        }
    }

    std::vector<uint32_t> nsec_;
    int64_t period_;
    int64_t next_ = 0;
};

} // namespace scs::bench
