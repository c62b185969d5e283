// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/world/kept-samples.hpp"

#include "engine/guard/fault-guard.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <mutex>
#include <new>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <unordered_map>

namespace scs {
namespace {

struct Kept {
    size_t bytes = 0;
    std::shared_ptr<Descriptor> folder;
    std::string name;
};

/// What is mapped, by address.
class Table {
public:
    static Table& instance() {
        static Table& table = *new Table; // plugins may free memory as late as they like
        return table;
    }

    bool add(void* address, Kept&& kept) noexcept {
        try {
            const std::lock_guard lock(mutex_);
            kept_.emplace(address, std::move(kept));
            count_.fetch_add(1, std::memory_order_relaxed);
            return true;
        } catch (const std::bad_alloc&) {
            return false;
        }
    }
    /// Takes it out. Its bytes are 0 if it isn't there.
    Kept take(const void* address) noexcept {
        Kept kept;
        look(address, [&](auto found) {
            kept = std::move(found->second);
            kept_.erase(found);
            count_.fetch_sub(1, std::memory_order_relaxed);
        });
        return kept;
    }
    /// 0: it isn't there.
    size_t bytes_of(const void* address) noexcept {
        size_t bytes = 0;
        look(address, [&](auto found) { bytes = found->second.bytes; });
        return bytes;
    }
    std::string name_of(const void* address) {
        std::string name;
        look(address, [&](auto found) { name = found->second.name; });
        return name;
    }

private:
    template <class F>
    void look(const void* address, F&& action) {
        if (!address || count_.load(std::memory_order_relaxed) == 0)
            return;
        const FaultGuard::HostCode whole; // a plugin that takes too long isn't ended while it has the lock
        const std::lock_guard lock(mutex_);
        if (const auto found = kept_.find(const_cast<void*>(address)); found != kept_.end())
            action(found);
    }

    std::mutex mutex_;
    std::unordered_map<void*, Kept> kept_;
    std::atomic<size_t> count_{0};
};

float* map(Descriptor file, const std::shared_ptr<Descriptor>& folder, const std::string& name, size_t bytes) {
    // All pages are there, so that the data loop never waits for one.
    void* const address = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file.get(), 0);
    if (address == MAP_FAILED)
        return nullptr;
    if (Table::instance().add(address, {bytes, folder, name}))
        return static_cast<float*>(address);
    ::munmap(address, bytes);
    errno = ENOMEM;
    return nullptr;
}

std::atomic<bool> no_more{false};

bool leaves_room(int folder, size_t bytes) noexcept {
    struct statvfs status;
    return ::fstatvfs(folder, &status) == 0 &&
           uint64_t(status.f_bavail) * status.f_frsize >= bytes + uint64_t(status.f_blocks) * status.f_frsize / 4;
}

} // namespace

void make_no_more_kept_samples() noexcept {
    no_more.store(true, std::memory_order_relaxed);
}

size_t sample_bytes(int64_t samples) noexcept {
    constexpr size_t alignment = 64, guard = 64 + 16 * sizeof(float);
    return (size_t(samples) * sizeof(float) + guard + alignment - 1) / alignment * alignment;
}

float* make_kept_samples(const std::shared_ptr<Descriptor>& folder, const std::string& name, int64_t samples) noexcept {
    const size_t bytes = sample_bytes(samples);
    if (no_more.load(std::memory_order_relaxed) || !leaves_room(folder->get(), bytes)) {
        errno = ENOSPC;
        return nullptr;
    }
    Descriptor file(::openat(folder->get(), name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (file.get() < 0)
        return nullptr;
    const int error = ::posix_fallocate(file.get(), 0, off_t(bytes));
    float* const made = error ? nullptr : map(std::move(file), folder, name, bytes);
    if (!made) {
        const int why = error ? error : errno;
        ::unlinkat(folder->get(), name.c_str(), 0);
        errno = why;
    }
    return made;
}

float* open_kept_samples(const std::shared_ptr<Descriptor>& folder, const std::string& name, int64_t samples) noexcept {
    Descriptor file(::openat(folder->get(), name.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    struct stat status;
    if (file.get() < 0 || ::fstat(file.get(), &status) != 0)
        return nullptr;
    const size_t bytes = sample_bytes(samples);
    if (!S_ISREG(status.st_mode) || status.st_uid != ::geteuid() || uint64_t(status.st_size) != bytes) {
        errno = EINVAL;
        return nullptr;
    }
    return map(std::move(file), folder, name, bytes);
}

std::string name_of_kept(const void* samples) {
    return Table::instance().name_of(samples);
}

void free_any(void* memory) noexcept {
    const Kept kept = Table::instance().take(memory);
    if (kept.bytes == 0)
        return std::free(memory);
    ::munmap(memory, kept.bytes);
    ::unlinkat(kept.folder->get(), kept.name.c_str(), 0);
}

void* reallocate_any(void* memory, size_t bytes) noexcept {
    const size_t before = Table::instance().bytes_of(memory);
    if (before == 0)
        return std::realloc(memory, bytes);
    void* const other = std::malloc(bytes);
    if (other) {
        std::memcpy(other, memory, std::min(before, bytes));
        free_any(memory);
    }
    return other;
}

} // namespace scs
