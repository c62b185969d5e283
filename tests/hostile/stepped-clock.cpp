// SPDX-License-Identifier: GPL-3.0-or-later
// Preloaded into a program it moves that program's CLOCK_REALTIME, and no other: by the ns that the file
// $SCS_STEPPED_CLOCK holds at that moment.
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

std::atomic<int64_t>* map_step() {
    const char* path = std::getenv("SCS_STEPPED_CLOCK");
    const int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0)
        return nullptr;
    void* memory = mmap(nullptr, sizeof(int64_t), PROT_READ, MAP_SHARED, fd, 0);
    close(fd);
    return memory == MAP_FAILED ? nullptr : static_cast<std::atomic<int64_t>*>(memory);
}

const std::atomic<int64_t>* const step = map_step();

} // namespace

extern "C" __attribute__((visibility("default"))) int clock_gettime(clockid_t clock, timespec* now) noexcept {
    constexpr int64_t second = 1'000'000'000;
    const long res = syscall(SYS_clock_gettime, clock, now);
    if (res == 0 && clock == CLOCK_REALTIME && step) {
        const int64_t nsec = now->tv_sec * second + now->tv_nsec + *step;
        *now = {time_t(nsec / second), long(nsec % second)};
    }
    return int(res);
}
