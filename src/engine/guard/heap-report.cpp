// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/guard/heap-report.hpp"

#include "engine/guard/guard-state.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <fcntl.h>
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

/// The functions for text may allocate.
class Line {
public:
    void add(std::string_view text) noexcept {
        const size_t bytes = std::min(text.size(), sizeof text_ - 1 - used_);
        std::memcpy(text_ + used_, text.data(), bytes);
        used_ += bytes;
    }
    void end() noexcept { text_[used_++] = '\n'; }
    void write_to(int fd) const noexcept {
        for (size_t done = 0; done < used_;) {
            const ssize_t written = ::write(fd, text_ + done, used_ - done);
            if (written <= 0)
                return;
            done += size_t(written);
        }
    }

private:
    char text_[400];
    size_t used_ = 0;
};

/// Adds the UGen that runs on this thread, if there is one.
void add_running_ugen(Line& line) noexcept {
    const GuardedPieces* const pieces = FaultGuard::running_pieces();
    char name[100] = "";
    if (!pieces || !pieces->name)
        return;
    // The name itself may have become unreadable.
    if (FaultGuard::run([&] { std::strncpy(name, pieces->name(*pieces), sizeof name - 1); }) && *name) {
        line.add("; '");
        line.add(name);
        line.add("' was running");
    }
}

} // namespace

void report_heap_corruption(std::string_view found) noexcept {
    Line line;
    line.add("scsynth: the heap is corrupted, most likely by a UGen");
    add_running_ugen(line);
    line.add("; the process ends");
    if (!found.empty()) {
        line.add(" (");
        line.add(found);
        line.add(")");
    }
    line.end();
    line.write_to(STDERR_FILENO);
    for (const Slot& slot : slots)
        if (slot.set.load(std::memory_order_acquire))
            // Never over a file that is there: the path may have come from anywhere.
            if (const int fd = ::open(slot.path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600); fd >= 0) {
                line.write_to(fd);
                ::close(fd);
            }
}

HeapMarker::HeapMarker(std::string_view path) noexcept {
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

HeapMarker::~HeapMarker() {
    if (slot_ < 0)
        return;
    slots[size_t(slot_)].set.store(false, std::memory_order_relaxed);
    slots[size_t(slot_)].taken.store(false, std::memory_order_release);
}

} // namespace scs
