// SPDX-License-Identifier: GPL-3.0-or-later
// /state_save and /state_restore: everything that a server has, in a file.
#include "engine/engine.hpp"
#include "osc/command-table.hpp"
#include "osc/file-access.hpp"
#include "osc/kept-folder.hpp"
#include "osc/server-settings.hpp"
#include "osc/state-restore.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <string>
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
    /// [worker] -1 and errno if it can't be opened.
    int open_quietly(const std::string& path, int flags) const {
        bool denied = false;
        return open_if_allowed(path, flags, denied);
    }
    /// [worker] -1: the command fails.
    int open(const std::string& path, int flags) {
        bool denied = false;
        const int fd = open_if_allowed(path, flags, denied);
        if (fd < 0)
            fail(denied ? "access denied" : std::strerror(errno));
        return fd;
    }
    void fail(const std::string& why) { set_failure("File '" + path_ + "': " + why); }

    std::string path_;

private:
    int open_if_allowed(const std::string& path, int flags, bool& denied) const {
        return FileAccess(services().settings.restricted_path).open(path, flags, denied);
    }
};

class SaveState final : public StateJob {
public:
    using StateJob::StateJob;
    bool needs_copy() const noexcept override { return true; }

private:
    void do_work() override {
        const auto copy = services().keeper.latest();
        if (!copy)
            return fail("there is no copy of the nodes, as in a score that is rendered");
        TreeState tree = *copy;
        tree.logins.clear();
        const auto definitions = services().sources.all();
        auto buffers = list_buffers(services().engine->buffers());
        for (BufferState& each : buffers)
            each.file.clear(); // the samples themselves are written
        // What isn't a file is written to; a file is replaced when all is written.
        const Descriptor before(open_quietly(path_, O_WRONLY | O_NONBLOCK | O_NOCTTY));
        struct stat status;
        const bool replaces = before.get() < 0 || ::fstat(before.get(), &status) != 0 || S_ISREG(status.st_mode);
        const std::string growing = path_ + ".new";
        const Descriptor file(replaces ? open(growing, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NOCTTY)
                                       : ::dup(before.get()));
        if (file.get() < 0)
            return;
        const auto write = [&](std::span<const std::byte> bytes) { return write_all(file.get(), bytes); };
        bool written = write_score(definitions, buffers, tree, write);
        written = written && (::fdatasync(file.get()) == 0 || errno == EINVAL); // EINVAL: it is no file that is kept
        written = written && (!replaces || rename(growing));
        if (!written) {
            fail(std::string("it isn't written whole: ") + std::strerror(errno));
            if (replaces)
                remove(growing);
        }
    }

    /// The folder that the path is in; -1: there is none.
    Descriptor folder() const {
        const auto parent = std::filesystem::path(path_).parent_path();
        return Descriptor(open_quietly(parent.empty() ? "." : parent.string(), O_PATH | O_DIRECTORY));
    }
    static std::string name_of(const std::string& path) { return std::filesystem::path(path).filename(); }
    bool rename(const std::string& growing) const {
        const Descriptor in = folder();
        return ::renameat(in.get(), name_of(growing).c_str(), in.get(), name_of(path_).c_str()) == 0;
    }
    void remove(const std::string& growing) const { ::unlinkat(folder().get(), name_of(growing).c_str(), 0); }
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
