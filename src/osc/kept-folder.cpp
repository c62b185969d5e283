// SPDX-License-Identifier: GPL-3.0-or-later
#include "osc/kept-folder.hpp"

#include "engine/world/kept-samples.hpp"
#include "osc/file-access.hpp"
#include "osc/file-replacement.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <dirent.h>
#include <fcntl.h>
#include <new>
#include <string_view>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <unordered_set>
#include <utility>

namespace scs::osc {

/// A file that says what there is, by the names that it has in its life. A present one is true; one that is older
/// couldn't be followed by another.
struct KeptFolder::FileNames {
    const char *present, *growing, *older;
};

namespace {

constexpr const char* soon_name = "ended-soon"; ///< its size says how often in a row
constexpr std::string_view samples_prefix = "samples-";

/// The number of the last file of samples, of all folders of this process: what a broken engine frees late mustn't
/// remove the file of another server.
std::atomic<uint64_t> last_number{0};

/// Seconds since the file was written.
int64_t age_of(int file) {
    struct stat status {};
    ::fstat(file, &status);
    return std::max<int64_t>(std::time(nullptr) - status.st_mtime, 0);
}

} // namespace

const KeptFolder::FileNames KeptFolder::definitions_file{"synthdefs", "synthdefs.new", "synthdefs.older"};
const KeptFolder::FileNames KeptFolder::state_file{"state", "state.new", "state.older"};

Result<std::unique_ptr<KeptFolder>> KeptFolder::open(const std::string& path, Warn warn) {
    ::mkdir(path.c_str(), S_IRWXU);
    Descriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    struct stat status;
    if (folder.get() < 0 || ::fstat(folder.get(), &status) != 0)
        return Error{path + ": " + std::strerror(errno)};
    if (status.st_uid != ::geteuid() || (status.st_mode & (S_IRWXG | S_IRWXO)) != 0)
        return Error{path + ": it must belong to this user, and nobody else may use it"};
    if (::flock(folder.get(), LOCK_EX | LOCK_NB) != 0)
        return Error{path + ": another server uses it"};
    return std::unique_ptr<KeptFolder>(
        new KeptFolder(std::make_shared<Descriptor>(std::move(folder)), std::move(warn)));
}

KeptFolder::~KeptFolder() {
    for_each_file([this](const char* name) { ::unlinkat(folder_->get(), name, 0); });
    // Memory that a broken engine holds for ever keeps the descriptor open, but not the folder from the next server.
    ::flock(folder_->get(), LOCK_UN);
}

template <class F>
void KeptFolder::for_each_file(F&& action) {
    const int fd = ::openat(folder_->get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR* const files = fd < 0 ? nullptr : ::fdopendir(fd);
    if (!files) {
        if (fd >= 0)
            ::close(fd);
        return;
    }
    while (const dirent* file = ::readdir(files))
        if (file->d_name[0] != '.')
            action(file->d_name);
    ::closedir(files);
}

// ---- what is left of another process

int KeptFolder::ended_soon() {
    struct stat status;
    return ::fstatat(folder_->get(), soon_name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(status.st_mode)
               ? int(std::clamp<off_t>(status.st_size, 0, 2))
               : 0;
}

bool KeptFolder::note_ended_soon(int times) {
    ::unlinkat(folder_->get(), soon_name, 0); // whatever lies there: a FIFO would be waited for
    const Descriptor file(
        ::openat(folder_->get(), soon_name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    return file.get() >= 0 && ::ftruncate(file.get(), times) == 0;
}

bool KeptFolder::has(const FileNames& names) const {
    return ::faccessat(folder_->get(), names.present, F_OK, AT_SYMLINK_NOFOLLOW) == 0 ||
           ::faccessat(folder_->get(), names.older, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

std::optional<SavedState> KeptFolder::read_file(const FileNames& names) {
    constexpr int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    Descriptor file(::openat(folder_->get(), names.present, flags));
    const bool older = file.get() < 0 && errno == ENOENT;
    if (older)
        file = Descriptor(::openat(folder_->get(), names.older, flags));
    if (file.get() < 0 && errno == ENOENT)
        return {};
    auto read = file.get() < 0 ? Result<SavedState>(Error{std::strerror(errno)})
                               : read_score(file.get(), ScoreOf::kept_folder, allocate_samples);
    const std::string which =
        std::string("the file '") + (older ? names.older : names.present) + "' of what the process before had ";
    if (!read) {
        warn_(which + "is left out: " + read.error());
        return {};
    }
    if (older)
        warn_(which + "is " + std::to_string(age_of(file.get())) + " s old: what came later couldn't be written");
    return std::move(read.value());
}

StateToRestore KeptFolder::recover(bool all) {
    StateToRestore state;
    int failed = ended_soon();
    recovered_ = has(state_file) || has(definitions_file);
    // First: it may be the reading that ends the process.
    if (recovered_ && !note_ended_soon(failed + 1)) {
        std::string line("it can't be noted whether what comes back ends the process ('");
        line.append(soon_name).append("': ").append(std::strerror(errno)).append("), so less of it does");
        warn_(line);
        ++failed;
    }
    if (failed < 2)
        read_all_files(state, all, failed == 0);
    remove_unused_samples(state);
    return state;
}

void KeptFolder::read_all_files(StateToRestore& state, bool all, bool nodes) {
    auto definitions = read_file(definitions_file);
    auto saved = read_file(state_file);
    if (definitions)
        for (auto& file : definitions.value().definitions)
            state.definitions.push_back(std::make_shared<DefinitionSource>(DefinitionSource{{}, std::move(file)}));
    if (!saved || !all)
        return;
    for (const BufferState& each : saved.value().buffers)
        if (each.file.starts_with(samples_prefix) && each.file.find('/') == each.file.npos)
            if (float* samples = open_kept_samples(folder_, each.file, int64_t(each.frames) * each.channels))
                state.buffers.push_back({each.number, {samples, each.frames, each.channels, each.rate, nullptr}});
    if (nodes)
        state.tree = std::make_shared<TreeState>(std::move(saved.value().tree));
}

void KeptFolder::remove_unused_samples(const StateToRestore& state) {
    std::unordered_set<std::string> used;
    for (const auto& [number, buffer] : state.buffers)
        used.insert(name_of_kept(buffer.data));
    for_each_file([&](const std::string& name) {
        if (!name.starts_with(samples_prefix))
            return;
        if (!used.contains(name))
            ::unlinkat(folder_->get(), name.c_str(), 0);
        else
            last_number =
                std::max<uint64_t>(last_number, std::strtoull(name.c_str() + samples_prefix.size(), nullptr, 10));
    });
}

// ---- what there is

float* KeptFolder::allocate(int64_t samples) {
    const std::string name = std::string(samples_prefix) + std::to_string(++last_number);
    float* const kept = make_kept_samples(folder_, name, samples);
    return kept ? kept : allocate_samples(samples);
}

void KeptFolder::write(const DefinitionSources& sources, const std::vector<BufferState>& buffers,
                       const TreeState& tree) {
    if (recovered_ && Clock::now() - began_ >= soon) {
        recovered_ = false;
        ::unlinkat(folder_->get(), soon_name, 0);
    }
    auto definitions = sources.all();
    int error = 0;
    if (written_ != definitions) {
        written_.reset();
        error = write_file(definitions_file, definitions, {}, {});
        if (!error)
            written_ = std::move(definitions);
    }
    std::vector<BufferState> kept;
    std::ranges::copy_if(buffers, std::back_inserter(kept), [](const BufferState& each) { return !each.file.empty(); });
    if (const int of_state = write_file(state_file, {}, kept, tree))
        error = of_state;
    if (error && !std::exchange(failed_, true))
        tell_failure(error);
    failed_ = error != 0;
}

int KeptFolder::write_file(const FileNames& names, std::span<const std::shared_ptr<const DefinitionSource>> definitions,
                           std::span<const BufferState> buffers, const TreeState& tree) {
    int error = ENOMEM;
    try {
        std::vector<std::byte> bytes;
        const auto sink = [&](std::span<const std::byte> some) {
            bytes.insert(bytes.end(), some.begin(), some.end());
            return true;
        };
        if (write_score(definitions, buffers, tree, sink))
            error = replace_file(names, bytes);
    } catch (const std::bad_alloc&) { // the next copy is written, or the one after that
    }
    if (error)
        set_aside(names);
    else
        ::unlinkat(folder_->get(), names.older, 0);
    return error;
}

int KeptFolder::replace_file(const FileNames& names, std::span<const std::byte> bytes) {
    ::unlinkat(folder_->get(), names.growing, 0); // of a process that was killed
    FileReplacement file(folder_->get(), names.present, names.growing, 0600);
    return file.is_open() && write_all(file.fd(), bytes) && file.take_place() ? 0 : errno;
}

/// An older state is better than none, but it mustn't come back as if it were the last one. Renaming takes no room.
void KeptFolder::set_aside(const FileNames& names) {
    if (::renameat(folder_->get(), names.present, folder_->get(), names.older) != 0 && errno != ENOENT)
        ::unlinkat(folder_->get(), names.present, 0);
}

void KeptFolder::tell_failure(int error) {
    if (const auto line =
            failures_.pass(std::string("what there is can't be kept for the case that the process ends (") +
                           std::strerror(error) + "): what comes back would be older"))
        warn_(*line);
}

std::vector<BufferState> list_buffers(const Buffers& table) {
    std::vector<BufferState> result;
    for (int32_t number = 0; number < table.count(); ++number)
        if (const Buffer buffer = table.latest(number); buffer.data)
            result.push_back(
                {number, buffer.frames, buffer.channels, buffer.sample_rate, buffer.data, name_of_kept(buffer.data)});
    return result;
}

} // namespace scs::osc
