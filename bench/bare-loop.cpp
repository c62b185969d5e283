// SPDX-License-Identifier: GPL-3.0-or-later
// What a machine itself loses of a graph's cycles, without PipeWire and without an engine: a driver's thread that wakes
// up once a cycle, wakes a player, computes for a part of the cycle, and when both are done wakes a recorder, which has
// to be done before the next cycle. Priorities are those of a desktop. Prints how many cycles were too late.
//
//     bare-loop FRAMES SECONDS PART...
//
// FRAMES at 48 kHz a cycle; each PART of it (0 to 1) is tried for SECONDS, a second of each in turn.
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <pthread.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

constexpr int64_t second = 1'000'000'000;
constexpr int64_t client_work = 30'000; // ns, of the player and of the recorder
constexpr int driver_priority = 20, client_priority = 88;

int64_t now() {
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * second + t.tv_nsec;
}

void compute(int64_t nsec) {
    for (const int64_t end = now() + nsec; now() < end;) {
    }
}

void prioritize(int policy, int priority) {
    const sched_param param{priority};
    if (const int error = pthread_setschedparam(pthread_self(), policy, &param)) {
        std::fprintf(stderr, "bare-loop needs the right to real-time priorities: %s\n", std::strerror(error));
        std::exit(1);
    }
}

struct Wake {
    int fd = eventfd(0, 0);
    void operator()() const {
        const uint64_t one = 1;
        if (write(fd, &one, sizeof one) != sizeof one)
            std::abort();
    }
    /// false: it is over.
    bool wait(const std::atomic<bool>& over) const {
        uint64_t count;
        return read(fd, &count, sizeof count) == sizeof count && !over;
    }
};

class Graph {
public:
    Graph() : player_([this] { play(); }), recorder_([this] { record(); }) {}
    ~Graph() {
        over_ = true;
        wake_player_();
        wake_recorder_();
        player_.join();
        recorder_.join();
    }
    /// How many of the cycles of a second weren't done in time; a cycle is `nsec` long, and the driver computes for
    /// `busy` ns of it.
    int late_cycles(int64_t nsec, int64_t busy) {
        int late = 0;
        int64_t next = now() + nsec;
        for (int64_t i = 0; i < second / nsec; ++i, next += nsec) {
            const timespec at{next / second, next % second};
            while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, nullptr) == EINTR) {
            }
            if (recorded_ != begun_) {
                ++late;
                while (recorded_ != begun_)
                    sched_yield();
                next = std::max(next, now());
            }
            ++begun_;
            pending_ = 2;
            wake_player_();
            compute(busy);
            finish();
        }
        return late;
    }

private:
    void finish() {
        if (--pending_ == 0)
            wake_recorder_();
    }
    void play() {
        prioritize(SCHED_FIFO, client_priority);
        while (wake_player_.wait(over_)) {
            compute(client_work);
            finish();
        }
    }
    void record() {
        prioritize(SCHED_FIFO, client_priority);
        while (wake_recorder_.wait(over_)) {
            compute(client_work);
            ++recorded_;
        }
    }

    std::atomic<bool> over_ = false;
    std::atomic<int> pending_ = 0;
    std::atomic<int64_t> begun_ = 0, recorded_ = 0;
    Wake wake_player_, wake_recorder_;
    std::thread player_, recorder_;
};

} // namespace

int main(int argc, char** argv) {
    if (argc < 4) {
        std::fprintf(stderr, "bare-loop FRAMES SECONDS PART...\n");
        return 2;
    }
    const int64_t nsec = std::atoll(argv[1]) * second / 48000;
    const int seconds = std::atoi(argv[2]);
    if (nsec <= 0 || seconds <= 0) {
        std::fprintf(stderr, "frames and seconds are 1 or more\n");
        return 2;
    }
    struct Row {
        double part;
        int late = 0, seconds = 0; ///< seconds with a late cycle
    };
    std::vector<Row> rows;
    for (int i = 3; i < argc; ++i)
        rows.push_back({std::atof(argv[i])});
    Graph graph;
    prioritize(SCHED_RR, driver_priority);
    for (int i = 0; i < seconds; ++i)
        for (Row& row : rows) {
            const int late = graph.late_cycles(nsec, int64_t(row.part * double(nsec)));
            row.late += late;
            row.seconds += late > 0;
        }
    for (const Row& row : rows)
        std::printf("%4.2f of %6.3f ms: %d late cycles in %d s, in %d of its seconds\n", row.part, 1e-6 * double(nsec),
                    row.late, seconds, row.seconds);
}
