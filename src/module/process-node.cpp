// SPDX-License-Identifier: GPL-3.0-or-later
#include "process-node.hpp"

#include "engine/base/c-locale.hpp"
#include "log-topic.hpp"
#include "restarts.hpp"

#include <pipewire/impl.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <spawn.h>
#include <string>
#include <string_view>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace scs::module {
namespace {

using Clock = std::chrono::steady_clock;

std::string program_of(const Properties& settings) {
    const char* given = pw_properties_get(settings.get(), "program.name");
    return given ? given : SCS_PROGRAM;
}

/// The settings as the program reads them: keys and values, each ends with a zero, and an empty key at the end.
std::string serialized(const Properties& settings) {
    std::string text;
    const spa_dict_item* item;
    spa_dict_for_each(item, &settings->dict) {
        text += std::string(item->key) + '\0';
        text += std::string(item->value) + '\0';
    }
    return text + '\0';
}

/// The daemon's environment, but for what configures the daemon, and with the name that clients know it by.
std::vector<std::string> environment_for(const char* core_name) {
    std::vector<std::string> made;
    for (char** each = environ; *each; ++each) {
        const std::string_view variable = *each;
        const std::string_view name = variable.substr(0, variable.find('='));
        if (name != "PIPEWIRE_CONFIG_DIR" && name != "PIPEWIRE_CONFIG_PREFIX" && name != "PIPEWIRE_CONFIG_NAME" &&
            name != "PIPEWIRE_CORE" && name != "PIPEWIRE_REMOTE" && name != "NOTIFY_SOCKET")
            made.emplace_back(variable);
    }
    if (core_name)
        made.push_back(std::string("PIPEWIRE_REMOTE=") + core_name);
    return made;
}

/// The process, and what starts it again. Deletes itself when module and process are gone.
class ProcessNode {
public:
    ProcessNode(pw_impl_module* module, std::string settings, std::string program)
        : module_(module),
          context_(pw_impl_module_get_context(module)),
          loop_(pw_context_get_main_loop(context_)),
          settings_(std::move(settings)),
          program_(std::move(program)) {
        pw_impl_module_add_listener(module_, &module_listener_, &module_events, this);
        pw_context_add_listener(context_, &context_listener_, &context_events, this);
        timer_ = pw_loop_add_timer(
            loop_, [](void* self, uint64_t) { static_cast<ProcessNode*>(self)->start(); }, this);
    }
    ProcessNode(const ProcessNode&) = delete;
    ProcessNode& operator=(const ProcessNode&) = delete;

    /// Starts it on a later turn of the main loop, when the daemon takes clients.
    void start_after(Clock::duration pause) {
        const auto nsec = std::max<int64_t>(1, std::chrono::nanoseconds(pause).count());
        timespec time{time_t(nsec / 1'000'000'000), long(nsec % 1'000'000'000)};
        pw_loop_update_timer(loop_, timer_, &time, nullptr, false);
    }

private:
    static const pw_impl_module_events module_events;
    static const pw_context_events context_events;

    ~ProcessNode() {
        if (module_)
            spa_hook_remove(&module_listener_);
        spa_hook_remove(&context_listener_);
        for (spa_source* source : {timer_, ended_})
            if (source)
                pw_loop_destroy_source(loop_, source);
        forget();
    }

    void start() {
        restarts_.started(Clock::now());
        if (const int error = spawn(); error != 0) {
            pw_logt_error(log_topic, "cannot run %s: %s", program_.c_str(), std::strerror(error));
            again();
        }
    }

    /// Returns an errno. The process reads the settings from its standard input, where nobody else sees them. It
    /// ends when that is closed, and so with this process, however that ends.
    int spawn() {
        int ends[2];
        if (pipe2(ends, O_CLOEXEC) != 0)
            return errno;
        life_line_ = ends[1];
        const bool written = ::write(life_line_, settings_.data(), settings_.size()) == ssize_t(settings_.size());
        std::vector<std::string> environment =
            environment_for(pw_properties_get(pw_context_get_properties(context_), PW_KEY_CORE_NAME));
        std::vector<char*> variables;
        for (std::string& each : environment)
            variables.push_back(each.data());
        variables.push_back(nullptr);
        std::string option = "--isolated";
        char* const arguments[] = {program_.data(), option.data(), nullptr};

        posix_spawn_file_actions_t files;
        posix_spawn_file_actions_init(&files);
        posix_spawn_file_actions_adddup2(&files, ends[0], STDIN_FILENO);
        posix_spawnattr_t attributes;
        posix_spawnattr_init(&attributes);
        sigset_t none, all;
        sigemptyset(&none);
        sigfillset(&all);
        posix_spawnattr_setsigmask(&attributes, &none); // the daemon blocks those that it polls for
        posix_spawnattr_setsigdefault(&attributes, &all);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
        int error =
            written ? posix_spawn(&pid_, program_.c_str(), &files, &attributes, arguments, variables.data()) : ENOSPC;
        posix_spawnattr_destroy(&attributes);
        posix_spawn_file_actions_destroy(&files);
        close(ends[0]);
        if (error != 0)
            pid_ = -1;
        const int fd = error == 0 ? int(syscall(SYS_pidfd_open, pid_, 0)) : -1;
        if (error == 0 && fd < 0)
            error = errno;
        if (error != 0) {
            forget();
            return error;
        }
        ended_ = pw_loop_add_io(
            loop_, fd, SPA_IO_IN, true, [](void* self, int, uint32_t) { static_cast<ProcessNode*>(self)->on_ended(); },
            this);
        return 0;
    }

    /// Lets go of the process, which ends if it still runs.
    void forget() {
        if (life_line_ >= 0)
            close(life_line_);
        life_line_ = -1;
        if (pid_ > 0)
            kill(pid_, SIGTERM);
        pid_ = -1;
    }

    void on_ended() {
        int status = 0;
        if (waitpid(pid_, &status, WNOHANG) == 0)
            return;
        pid_ = -1;
        pw_loop_destroy_source(loop_, std::exchange(ended_, nullptr));
        forget();
        if (!module_) {
            delete this;
        } else if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
            pw_impl_module_schedule_destroy(module_);
        } else {
            if (WIFSIGNALED(status))
                pw_logt_warn(log_topic, "the node's process was ended by signal %d (%s)", WTERMSIG(status),
                             strsignal(WTERMSIG(status)));
            else
                pw_logt_warn(log_topic, "the node's process ended with status %d", WEXITSTATUS(status));
            again();
        }
    }

    void again() {
        const auto pause = restarts_.pause(Clock::now());
        const CLocale numbers;
        pw_logt_warn(log_topic, "the node's process starts again in %.1f s",
                     std::chrono::duration<double>(pause).count());
        start_after(pause);
    }

    void on_module_destroy() {
        spa_hook_remove(&module_listener_);
        module_ = nullptr;
        if (pid_ < 0) {
            delete this;
            return;
        }
        // To leave the daemon properly it needs the main loop, so this can't wait for it.
        pw_loop_destroy_source(loop_, std::exchange(timer_, nullptr));
        close(std::exchange(life_line_, -1));
    }

    pw_impl_module* module_;
    pw_context* context_;
    pw_loop* loop_;
    std::string settings_, program_;
    spa_hook module_listener_{};
    spa_hook context_listener_{};
    spa_source* timer_ = nullptr;
    spa_source* ended_ = nullptr;
    Restarts restarts_;
    pid_t pid_ = -1;
    int life_line_ = -1;
};

const pw_impl_module_events ProcessNode::module_events = {
    .version = PW_VERSION_IMPL_MODULE_EVENTS,
    .destroy = [](void* data) { static_cast<ProcessNode*>(data)->on_module_destroy(); },
};

const pw_context_events ProcessNode::context_events = {
    .version = PW_VERSION_CONTEXT_EVENTS,
    .destroy = [](void* data) { delete static_cast<ProcessNode*>(data); },
};

} // namespace

bool has_program(const Properties& settings) {
    return access(program_of(settings).c_str(), X_OK) == 0;
}

std::optional<Failure> make_process_node(pw_impl_module* module, Properties settings) {
    constexpr size_t room = 65536; // of a pipe
    std::string program = program_of(settings);
    if (!has_program(settings))
        return Failure{-ENOENT, "cannot run " + program + ", which a node in a process of its own needs"};
    pw_properties_set(settings.get(), "program.name", nullptr);
    std::string text = serialized(settings);
    if (text.size() > room)
        return Failure{-E2BIG, "the settings are too long"};
    (new ProcessNode(module, std::move(text), std::move(program)))->start_after({});
    return {};
}

} // namespace scs::module
