// SPDX-License-Identifier: GPL-3.0-or-later
#include "osc/kept-folder.hpp"

#include "engine/world/kept-samples.hpp"
#include "osc/file-access.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <string_view>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <unordered_set>
#include <utility>

namespace scs::osc {

namespace {

constexpr const char* definitions_name = "synthdefs";
constexpr const char* state_name = "state";
constexpr const char* soon_name = "ended-soon"; ///< its size says how often in a row
constexpr std::string_view samples_prefix = "samples-";

/// The number of the last file of samples, of all folders of this process: what a broken engine frees late mustn't
/// remove the file of another server.
std::atomic<uint64_t> last_number{0};

} // namespace

Result<std::unique_ptr<KeptFolder>> KeptFolder::open(const std::string& path) {
    ::mkdir(path.c_str(), S_IRWXU);
    Descriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    struct stat status;
    if (folder.get() < 0 || ::fstat(folder.get(), &status) != 0)
        return Error{path + ": " + std::strerror(errno)};
    if (status.st_uid != ::geteuid() || (status.st_mode & (S_IRWXG | S_IRWXO)) != 0)
        return Error{path + ": it must belong to this user, and nobody else may use it"};
    if (::flock(folder.get(), LOCK_EX | LOCK_NB) != 0)
        return Error{path + ": another server uses it"};
    return std::unique_ptr<KeptFolder>(new KeptFolder(std::make_shared<Descriptor>(std::move(folder))));
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
    return ::fstatat(folder_->get(), soon_name, &status, AT_SYMLINK_NOFOLLOW) == 0
               ? int(std::clamp<off_t>(status.st_size, 0, 2))
               : 0;
}

void KeptFolder::note_ended_soon(int times) {
    const Descriptor file(
        ::openat(folder_->get(), soon_name, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));
    (void)!::ftruncate(file.get(), times);
}

Result<SavedState> KeptFolder::read_file(const char* name) {
    const Descriptor file(::openat(folder_->get(), name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (file.get() < 0)
        return Error{std::strerror(errno)};
    return read_score(file.get(), ScoreOf::kept_folder, allocate_samples);
}

StateToRestore KeptFolder::recover(bool all) {
    StateToRestore state;
    const int failed = ended_soon();
    recovered_ = ::faccessat(folder_->get(), state_name, F_OK, AT_SYMLINK_NOFOLLOW) == 0 ||
                 ::faccessat(folder_->get(), definitions_name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
    if (recovered_)
        note_ended_soon(failed + 1); // first: it may be the reading that ends the process
    if (failed < 2)
        read_all_files(state, all, failed == 0);
    remove_unused_samples(state);
    return state;
}

void KeptFolder::read_all_files(StateToRestore& state, bool all, bool nodes) {
    auto definitions = read_file(definitions_name);
    auto saved = read_file(state_name);
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
    if (definitions != written_ && write_file(definitions_name, definitions, {}, {}))
        written_ = std::move(definitions);
    std::vector<BufferState> kept;
    std::ranges::copy_if(buffers, std::back_inserter(kept), [](const BufferState& each) { return !each.file.empty(); });
    (void)write_file(state_name, {}, kept, tree);
}

bool KeptFolder::write_file(const char* name, std::span<const std::shared_ptr<const DefinitionSource>> definitions,
                            std::span<const BufferState> buffers, const TreeState& tree) {
    const std::string growing = std::string(name) + ".new";
    const Descriptor file(
        ::openat(folder_->get(), growing.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));
    std::vector<std::byte> bytes;
    const bool written = write_score(definitions, buffers, tree, [&](std::span<const std::byte> some) {
        bytes.insert(bytes.end(), some.begin(), some.end());
        return true;
    });
    if (file.get() >= 0 && written && write_all(file.get(), bytes) &&
        ::renameat(folder_->get(), growing.c_str(), folder_->get(), name) == 0)
        return true;
    ::unlinkat(folder_->get(), growing.c_str(), 0);
    return false;
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
