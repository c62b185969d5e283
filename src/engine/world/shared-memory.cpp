// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/world/shared-memory.hpp"

#include "engine/world/layout.hpp"

#include <boost/interprocess/managed_external_buffer.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <exception>
#include <fcntl.h>
#include <filesystem>
#include <memory>
#include <string_view>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace scs {
namespace {

namespace ipc = boost::interprocess;

// boost's managed_shared_memory is a four-byte state, rounded up to its alignment, followed by a managed buffer. A
// client waits until the state has this value.
constexpr size_t head_bytes = 16;
constexpr uint32_t initialized = 2;
/// Between that state and the buffer, where nobody else writes: the segment is this program's, so its living owner has
/// locked it.
constexpr size_t mark_at = 8;
constexpr std::array<char, 8> mark{'p', 'w', 's', 'c', 's', 'y', 'n', '1'};
static_assert(mark_at + sizeof mark <= head_bytes);
using Buffer = ipc::basic_managed_external_buffer<char, ipc::rbtree_best_fit<ipc::mutex_family>, ipc::iset_index>;

constexpr size_t usual_bytes = size_t(8) << 20;         ///< scsynth's
constexpr size_t usual_control_bytes = size_t(2) << 20; ///< what fits beside the scopes in usual_bytes

std::string failure(const std::string& path, int error) {
    return "no shared memory for clients: " + path + ": " + std::strerror(error);
}

/// Owns a file descriptor until it is taken.
class File {
public:
    explicit File(int fd) : fd_(fd) {}
    ~File() {
        if (fd_ >= 0)
            ::close(fd_);
    }
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    int get() const { return fd_; }
    int take() { return std::exchange(fd_, -1); }

private:
    int fd_;
};

/// Removes a segment that no living server has open. Returns 0 or the error.
int remove_stale(const std::string& path) {
    const File old(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
    if (old.get() >= 0 && ::flock(old.get(), LOCK_EX | LOCK_NB) != 0)
        return EADDRINUSE;
    return ::unlink(path.c_str()) == 0 || errno == ENOENT ? 0 : errno;
}

bool same_file(const struct stat& a, const struct stat& b) {
    return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/// What the name of an abandoned segment is given before it is removed, with a number after it.
constexpr std::string_view aside_suffix = ".abandoned-";

/// Whether it is `name` and a number, the name of a segment, maybe with that suffix.
bool may_name_segment(std::string_view text, std::string_view name) {
    const auto is_number = [](std::string_view all) {
        return !all.empty() && all.find_first_not_of("0123456789") == all.npos;
    };
    if (!text.starts_with(name))
        return false;
    text.remove_prefix(name.size());
    const size_t suffix = text.find(aside_suffix);
    return is_number(text.substr(0, suffix)) &&
           (suffix == text.npos || is_number(text.substr(suffix + aside_suffix.size())));
}

/// Whether the open file is a segment of this program whose owner is dead. Then it is locked, and stays so as long as
/// it is open. The kernel releases a lock when its owner ends, in whatever process namespace that was.
bool is_abandoned(int file, const struct stat& status) {
    std::array<char, sizeof mark> found;
    return S_ISREG(status.st_mode) && status.st_uid == ::geteuid() &&
           ::pread(file, found.data(), sizeof found, mark_at) == ssize_t(sizeof found) && found == mark &&
           ::flock(file, LOCK_EX | LOCK_NB) == 0;
}

/// Another server may have taken the name since the file was opened. So the name is taken away first, and given back if
/// it isn't that file's any more.
void remove_if_abandoned(const std::string& path) {
    const File file(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    struct stat status, named;
    if (file.get() < 0 || ::fstat(file.get(), &status) != 0 || !is_abandoned(file.get(), status))
        return;
    const std::string aside = path + std::string(aside_suffix) + std::to_string(status.st_ino);
    if (::stat(path.c_str(), &named) != 0 || !same_file(status, named) ||
        ::renameat2(AT_FDCWD, path.c_str(), AT_FDCWD, aside.c_str(), RENAME_NOREPLACE) != 0)
        return;
    if (::stat(aside.c_str(), &named) == 0 && same_file(status, named))
        ::unlink(aside.c_str());
    else
        ::renameat2(AT_FDCWD, aside.c_str(), AT_FDCWD, path.c_str(), RENAME_NOREPLACE);
}

/// Room for that many floats at the beginning of a cache line. Boost 1.92 finds twice the room for its own
/// allocate_aligned(), and there isn't as much.
float* allocate_line(Buffer& buffer, size_t count) {
    constexpr size_t line = 64;
    void* room = buffer.allocate(count * sizeof(float) + line);
    size_t space = count * sizeof(float) + line;
    return static_cast<float*>(std::align(line, count * sizeof(float), room, space));
}

/// Gives the open file its name. Returns 0 or the error.
int publish(int file, const std::string& path) {
    const std::string open_file = "/proc/self/fd/" + std::to_string(file);
    for (int tries = 0; tries < 3; ++tries) {
        if (::linkat(AT_FDCWD, open_file.c_str(), AT_FDCWD, path.c_str(), AT_SYMLINK_FOLLOW) == 0)
            return 0;
        if (errno != EEXIST)
            return errno;
        const int error = remove_stale(path);
        if (error == EADDRINUSE)
            ::usleep(20'000); // another server may have locked it only to remove it
        else if (error != 0)
            return error;
    }
    return EADDRINUSE;
}

} // namespace

Result<std::shared_ptr<SharedMemory>> SharedMemory::create(const std::string& name, int control_buses,
                                                           const std::string& folder) {
    const std::string path = folder + '/' + name;
    if (control_buses < 0 || control_buses > 1 << 24)
        return Error{"no shared memory for " + std::to_string(control_buses) + " control buses"};
    const size_t control_bytes = size_t(control_buses) * sizeof(float);
    const size_t bytes = usual_bytes + (std::max(control_bytes, usual_control_bytes) - usual_control_bytes);
    // It gets its name only when it is complete: a client that found half a segment would wait for ever.
    File file(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
    if (file.get() < 0)
        return Error{failure(folder, errno)};
    if (const int error = ::posix_fallocate(file.get(), 0, off_t(bytes)))
        return Error{failure(path, error)};
    if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0)
        return Error{failure(path, errno)};
    void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
    if (memory == MAP_FAILED)
        return Error{failure(path, errno)};
    try {
        const int fd = file.get();
        std::shared_ptr<SharedMemory> made(
            new SharedMemory(path, file.take(), static_cast<std::byte*>(memory), bytes, control_buses));
        made->construct(name);
        if (const int error = publish(fd, path))
            return Error{failure(path, error)};
        return made;
    } catch (const std::exception& e) {
        return Error{"no shared memory for clients: " + path + ": " + e.what()};
    }
}

SharedMemory::SharedMemory(std::string path, int file, std::byte* memory, size_t bytes, int control_buses)
    : path_(std::move(path)), file_(file), memory_(memory), bytes_(bytes), control_count_(size_t(control_buses)) {
    // Maps each page into this process, so that the render path touches none first.
    const auto page = size_t(::sysconf(_SC_PAGESIZE));
    for (size_t at = 0; at < bytes; at += page)
        static_cast<volatile std::byte*>(memory)[at] = std::byte{0};
}

void SharedMemory::construct(const std::string& name) {
    Buffer buffer(ipc::create_only, memory_ + head_bytes, bytes_ - head_bytes);
    float* samples = allocate_line(buffer, ScopeBuffers::pool_samples);
    auto* manager = buffer.get_segment_manager();
    auto* root = buffer.construct<shm::Root>(name.c_str())(manager);
    root->scopes.reserve(shm::scope_count);
    control_buses_ = allocate_line(buffer, std::max<size_t>(control_count_, 1));
    root->control_buses = control_buses_;
    std::array<shm::Scope*, shm::scope_count> scopes;
    for (shm::Scope*& scope : scopes) {
        scope = new (buffer.allocate(sizeof(shm::Scope))) shm::Scope();
        root->scopes.push_back(scope);
    }
    scopes_ = std::make_unique<ScopeBuffers>(scopes, samples);
    reset();
    std::memcpy(memory_ + mark_at, mark.data(), sizeof mark);
    new (memory_) std::atomic<uint32_t>(initialized);
}

SharedMemory::~SharedMemory() {
    remove();
    ::munmap(memory_, bytes_);
    ::close(file_);
}

void SharedMemory::remove() noexcept {
    struct stat ours, named;
    if (::fstat(file_, &ours) == 0 && ::stat(path_.c_str(), &named) == 0 && same_file(ours, named))
        ::unlink(path_.c_str());
}

void SharedMemory::remove_abandoned(const std::string& name, const std::string& folder) noexcept {
    try {
        std::error_code error;
        for (std::filesystem::directory_iterator each(folder, error);
             !error && each != std::filesystem::directory_iterator(); each.increment(error))
            if (may_name_segment(each->path().filename().native(), name))
                remove_if_abandoned(each->path().native());
    } catch (const std::bad_alloc&) { // the next server does it
    }
}

void SharedMemory::reset() noexcept {
    std::memset(control_buses_, 0, control_count_ * sizeof(float));
    scopes_->reset();
}

} // namespace scs
