// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/guard/crash-report.hpp"

#include "engine/guard/guard-state.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <fcntl.h>
#include <initializer_list>
#include <sys/prctl.h>
#include <unistd.h>

namespace scs {
namespace {

/// Not on the heap, which can't be relied on when they are needed.
struct Slot {
    std::atomic<bool> taken{false};
    std::atomic<bool> set{false};
    char path[501]{};
};
constinit std::array<Slot, 32> slots;

/// The name of the UGen that runs on this thread; empty: none.
class RunningUgen {
public:
    RunningUgen() noexcept {
        const GuardedPieces* const pieces = FaultGuard::running_pieces();
        if (!pieces || !pieces->name)
            return;
        // The name itself may have become unreadable.
        if (!FaultGuard::run([&] { std::strncpy(text_, pieces->name(*pieces), sizeof text_ - 1); }))
            *text_ = 0;
    }
    std::string_view name() const noexcept { return text_; }

private:
    char text_[100]{};
};

void write_all(int fd, std::string_view text) noexcept {
    while (!text.empty()) {
        const ssize_t written = ::write(fd, text.data(), text.size());
        if (written <= 0)
            return;
        text.remove_prefix(size_t(written));
    }
}

/// A line of these. The C library's functions for text may allocate.
void report(std::initializer_list<std::string_view> parts) noexcept {
    char line[400];
    size_t used = 0;
    for (const std::string_view part : parts) {
        const size_t bytes = std::min(part.size(), sizeof line - 1 - used);
        std::memcpy(line + used, part.data(), bytes);
        used += bytes;
    }
    line[used++] = '\n';
    write_all(STDERR_FILENO, {line, used});
    for (const Slot& slot : slots)
        if (slot.set.load(std::memory_order_acquire))
            // Never over a file that is there: the path may have come from anywhere.
            if (const int fd = ::open(slot.path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600); fd >= 0) {
                write_all(fd, {line, used});
                ::close(fd);
            }
}

} // namespace

void report_heap_corruption(std::string_view found) noexcept {
    const RunningUgen ugen;
    const bool named = !ugen.name().empty(), told = !found.empty();
    report({"scsynth: the heap is corrupted, most likely by a UGen", named ? "; '" : "", ugen.name(),
            named ? "' was running" : "", "; the process ends", told ? " (" : "", found, told ? ")" : ""});
}

void report_exit() noexcept {
    const RunningUgen ugen;
    const bool named = !ugen.name().empty();
    report({"scsynth: ", named ? "UGen '" : "a UGen plugin", ugen.name(), named ? "'" : "",
            " has called exit(); the process ends"});
}

void report_crash(int signal) noexcept {
    char thread[17] = "";
    prctl(PR_GET_NAME, thread);
    const char* const name = sigabbrev_np(signal);
    report({"scsynth: thread '", thread, "' has crashed (SIG", name ? name : "?",
            "), where no UGen can be ended for it; the process ends"});
}

CrashMarker::CrashMarker(std::string_view path) noexcept {
    if (path.empty() || path.size() >= sizeof Slot::path)
        return;
    for (size_t i = 0; i < slots.size(); ++i)
        if (!slots[i].taken.exchange(true, std::memory_order_acquire)) {
            std::memcpy(slots[i].path, path.data(), path.size());
            slots[i].path[path.size()] = 0;
            slots[i].set.store(true, std::memory_order_release);
            slot_ = int(i);
            return;
        }
}

CrashMarker::~CrashMarker() {
    if (slot_ < 0)
        return;
    slots[size_t(slot_)].set.store(false, std::memory_order_relaxed);
    slots[size_t(slot_)].taken.store(false, std::memory_order_release);
}

} // namespace scs
