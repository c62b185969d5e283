// SPDX-License-Identifier: GPL-3.0-or-later
// /state_save and /state_restore: everything that a server has, in a file.
#include "engine/engine.hpp"
#include "osc/command-table.hpp"
#include "osc/file-access.hpp"
#include "osc/file-replacement.hpp"
#include "osc/kept-folder.hpp"
#include "osc/server-settings.hpp"
#include "osc/state-restore.hpp"

#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

namespace scs::osc {

namespace {

/// A job on the file whose path is the first argument.
class StateJob : public OscJob {
public:
    explicit StateJob(CommandInit&& init) : OscJob(std::move(init)) {
        ArgReader rest = args();
        path_ = rest.get_string();
    }
    JobKind job_kind() const noexcept override { return JobKind::buffer; }
    JobBuffers job_buffers() const noexcept override { return {{}, true}; }

protected:
    /// [worker] -1: the command fails.
    int open(const std::string& path, int flags) {
        bool denied = false;
        const int fd = FileAccess(services().settings.restricted_path).open(path, flags, denied);
        if (fd < 0)
            fail(denied ? "access denied" : std::strerror(errno));
        return fd;
    }
    void fail(const std::string& why) { set_failure("File '" + path_ + "': " + why); }

    std::string path_;
};

/// What a file isn't; null: it is one.
const char* other_kind(mode_t mode) {
    switch (mode & S_IFMT) {
    case S_IFREG: return nullptr;
    case S_IFDIR: return "a folder";
    case S_IFIFO: return "a FIFO";
    case S_IFSOCK: return "a socket";
    default: return "a device";
    }
}

class SaveState final : public StateJob {
public:
    using StateJob::StateJob;
    bool needs_copy() const noexcept override { return true; }

private:
    /// Where a file is, or is to be.
    struct Place {
        Descriptor folder; ///< -1: there is none
        std::string name;
    };

    void do_work() override {
        const auto copy = services().keeper.latest();
        if (!copy)
            return fail("there is no copy of the nodes, as in a score that is rendered");
        TreeState tree = *copy;
        tree.logins.clear();
        if (const Place place = find_place(); place.folder.get() >= 0)
            save(place, tree);
    }

    /// Where the path leads to. Symbolic links are followed, the last one, too, so that it isn't the link that is
    /// replaced; each folder on the way must be one that commands may touch.
    Place find_place() {
        constexpr int most_links = 40; // as many as Linux follows
        std::filesystem::path path = path_;
        for (int links = 0; links <= most_links; ++links) {
            const auto parent = path.parent_path();
            Place place{Descriptor(open(parent.empty() ? "." : parent.string(), O_PATH | O_DIRECTORY)),
                        path.has_filename() ? path.filename().string() : "."};
            std::array<char, PATH_MAX> target;
            const ssize_t size = place.folder.get() < 0 ? -1
                                                        : ::readlinkat(place.folder.get(), place.name.c_str(),
                                                                       target.data(), target.size());
            if (size < 0)
                return place;
            path = parent / std::string_view(target.data(), size_t(size));
        }
        fail(std::strerror(ELOOP));
        return {Descriptor(), {}};
    }

    void save(const Place& place, const TreeState& tree) {
        struct stat before {};
        const bool replaces = ::fstatat(place.folder.get(), place.name.c_str(), &before, AT_SYMLINK_NOFOLLOW) == 0;
        if (const char* kind = replaces ? other_kind(before.st_mode) : nullptr)
            return fail(std::string("it is ") + kind + ", not a file");
        if (replaces && ::faccessat(place.folder.get(), place.name.c_str(), W_OK, AT_EACCESS) != 0)
            return fail(std::strerror(errno));
        FileReplacement file(place.folder.get(), place.name, random_name(place.name), replaces ? 0600 : 0666);
        if (!file.is_open())
            return fail(std::strerror(errno));
        if (replaces)
            (void)!::fchmod(file.fd(), before.st_mode & (S_IRWXU | S_IRWXG | S_IRWXO)); // who could read it still may
        if (!write(file.fd(), tree) || !file.take_place())
            fail(std::string("it isn't written whole: ") + std::strerror(errno));
    }

    bool write(int file, const TreeState& tree) {
        auto buffers = list_buffers(services().engine->buffers());
        for (BufferState& each : buffers)
            each.file.clear(); // the samples themselves are written
        const auto sink = [&](std::span<const std::byte> bytes) { return write_all(file, bytes); };
        return write_score(services().sources.all(), buffers, tree, sink) &&
               (::fdatasync(file) == 0 || errno == EINVAL); // EINVAL: the file system can't
    }
};

class RestoreState final : public StateJob {
public:
    using StateJob::StateJob;

private:
    void do_work() override {
        const Descriptor file(open(path_, O_RDONLY | O_NONBLOCK | O_NOCTTY));
        if (file.get() < 0)
            return;
        const auto allocate = [this](int64_t samples) { return services().allocate(samples); };
        auto state = read_state(file.get(), allocate);
        if (!state)
            return fail(state.error());
        auto bundle = std::make_unique<CommandBundle>();
        append_restore(*bundle, std::move(state.value()), services(), *services().engine, true,
                       [this](const std::string& line) { warn(line); });
        completion = bundle.release();
    }

    /// What can't be restored is left out, which is no failure.
    void warn(const std::string& line) const {
        if (const auto& log = services().settings.log)
            log(ServerSettings::Level::warning, "/state_restore: " + line);
    }
};

constexpr CommandSpec commands[] = {
    {.name = "/state_save", .types = "s", .make = make_command<SaveState>},
    {.name = "/state_restore", .types = "s", .make = make_command<RestoreState>, .plays = true},
};

} // namespace

std::span<const CommandSpec> state_commands() {
    return commands;
}

} // namespace scs::osc
