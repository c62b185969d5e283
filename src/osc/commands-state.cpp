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
#include <string>
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
    JobKind job_kind() const noexcept override { return JobKind::barrier; } // it reads or replaces any buffer

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

class SaveState final : public StateJob {
public:
    using StateJob::StateJob;
    bool needs_copy() const noexcept override { return true; }

private:
    void do_work() override {
        const auto copy = services().keeper.latest();
        if (!copy)
            return fail("there is no copy of the nodes, as in a score that is rendered");
        const Descriptor file(open(path_, O_WRONLY | O_CREAT | O_TRUNC | O_NONBLOCK | O_NOCTTY));
        if (file.get() < 0)
            return;
        TreeState tree = *copy;
        tree.logins.clear();
        const auto definitions = services().sources.all();
        const auto write = [&](std::span<const std::byte> bytes) { return write_all(file.get(), bytes); };
        auto buffers = list_buffers(services().engine->buffers());
        for (BufferState& each : buffers)
            each.file.clear(); // the samples themselves are written
        const bool written = write_score(definitions, buffers, tree, write);
        if (!written || (::fdatasync(file.get()) != 0 && errno != EINVAL)) // EINVAL: it is no file that is kept
            fail(std::string("it isn't written whole: ") + std::strerror(errno));
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
                       [this](const std::string& line) { add_warning(line); });
        completion = bundle.release();
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
