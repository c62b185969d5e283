// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/packs/probe.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <poll.h>
#include <spawn.h>
#include <string_view>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace scs {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto patience = std::chrono::seconds(5); ///< with one file; each that goes wrong is tried twice
constexpr size_t most_at_once = 256;

std::string program() {
    const char* given = std::getenv("SCS_UGEN_PROBE");
    return given && *given ? given : SCS_PROBE_PROGRAM;
}

/// One run of the program over some files.
class Run {
public:
    explicit Run(size_t files) : results_(files) {}

    /// Returns the files' results as far as it got: those after one that ended it are unknown.
    std::vector<ProbeResult> of(const std::vector<std::string>& files) {
        if (const int error = start(files); error != 0) {
            for (ProbeResult& each : results_)
                each.what = program() + ": " + std::strerror(error);
            return std::move(results_);
        }
        const bool in_time = listen() && ends_by_itself();
        if (!in_time)
            kill(pid_, SIGKILL);
        close(output_);
        int status = 0;
        while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
        }
        if (at_)
            results_[*at_] = {ProbeResult::harmful, in_time ? reason(status) : "did not end"};
        return std::move(results_);
    }

private:
    int start(const std::vector<std::string>& files) {
        int ends[2];
        if (pipe2(ends, O_CLOEXEC) != 0)
            return errno;
        output_ = ends[0];
        std::vector<std::string> texts = {program()};
        texts.insert(texts.end(), files.begin(), files.end());
        std::vector<char*> arguments;
        for (std::string& each : texts)
            arguments.push_back(each.data());
        arguments.push_back(nullptr);

        posix_spawn_file_actions_t actions;
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
        posix_spawn_file_actions_adddup2(&actions, ends[1], probe_output);
        posix_spawnattr_t attributes;
        posix_spawnattr_init(&attributes);
        sigset_t none, all;
        sigemptyset(&none);
        sigfillset(&all);
        posix_spawnattr_setsigmask(&attributes, &none);
        posix_spawnattr_setsigdefault(&attributes, &all);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
        const int error = posix_spawn(&pid_, arguments[0], &actions, &attributes, arguments.data(), environ);
        posix_spawnattr_destroy(&attributes);
        posix_spawn_file_actions_destroy(&actions);
        close(ends[1]);
        if (error != 0)
            close(output_);
        return error;
    }

    /// Until the program has closed its output. false: it took too long with a file.
    bool listen() {
        Clock::time_point until = Clock::now() + patience;
        for (std::string unread;;) {
            const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
            pollfd output{output_, POLLIN, 0};
            const int ready = left > 0 ? poll(&output, 1, int(left)) : 0;
            if (ready < 0 && errno == EINTR)
                continue;
            char more[4096];
            const ssize_t count = ready > 0 ? ::read(output_, more, sizeof more) : -1;
            if (count == 0)
                return true;
            if (count < 0)
                return false;
            unread.append(more, size_t(count));
            for (size_t end = unread.find('\n'); end != unread.npos; end = unread.find('\n')) {
                if (hear(std::string_view(unread).substr(0, end)))
                    until = Clock::now() + patience;
                unread.erase(0, end + 1);
            }
            // A process that a plugin has started may keep the pipe open for longer.
            if (!at_ && !results_.empty() && results_.back().kind != ProbeResult::unknown)
                return true;
            if (unread.size() > sizeof more)
                return false;
        }
    }

    /// Waits for the process, whose output a plugin may have closed before it does something else.
    bool ends_by_itself() {
        const int process = int(syscall(SYS_pidfd_open, pid_, 0)); // glibc 2.36 has it in no C++ header
        if (process < 0)
            return false;
        const Clock::time_point until = Clock::now() + patience;
        pollfd end{process, POLLIN, 0};
        int ready = 0;
        do {
            const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
            ready = poll(&end, 1, int(std::max<int64_t>(left, 0)));
        } while (ready < 0 && errno == EINTR);
        close(process);
        return ready > 0;
    }

    /// Returns whether it has gone on. A plugin may write there, too: what makes no sense, or comes twice, is ignored.
    bool hear(std::string_view line) {
        size_t file = 0;
        if (line.empty() || std::from_chars(line.data() + 1, line.data() + line.size(), file).ec != std::errc() ||
            file >= results_.size() || results_[file].kind != ProbeResult::unknown)
            return false;
        if (line[0] == probe_begins)
            return std::exchange(at_, file) != file;
        switch (line[0]) {
        case probe_ends: results_[file] = {ProbeResult::harmless, ""}; break;
        case probe_lacks: results_[file] = {ProbeResult::missing, ""}; break;
        case probe_throws: results_[file] = {ProbeResult::harmful, "threw an exception"}; break;
        default: return false;
        }
        at_.reset();
        return true;
    }

    static std::string reason(int status) {
        if (WIFEXITED(status))
            return "ended the process with exit status " + std::to_string(WEXITSTATUS(status));
        const int number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
        if (number == SIGABRT)
            return "called abort()";
        const char* name = sigabbrev_np(number);
        return name ? std::string("crashed (SIG") + name + ")" : "ended the process";
    }

    std::vector<ProbeResult> results_;
    std::optional<size_t> at_; ///< the file that is being loaded
    pid_t pid_ = -1;
    int output_ = -1;
};

std::vector<ProbeResult> run(const std::vector<std::string>& files) {
    return Run(files.size()).of(files);
}

/// A file may end the process only after others, such as one whose thread crashes a little later. So what goes wrong is
/// tried once more, alone.
ProbeResult second_try(const std::string& file, ProbeResult first) {
    ProbeResult alone = run({file}).front();
    return alone.kind == ProbeResult::unknown ? std::move(first) : std::move(alone);
}

} // namespace

std::vector<ProbeResult> probe_plugins(const std::vector<std::string>& files) {
    std::vector<ProbeResult> results;
    while (results.size() < files.size()) {
        const auto first = files.begin() + ptrdiff_t(results.size());
        const auto last = first + ptrdiff_t(std::min(most_at_once, files.size() - results.size()));
        std::vector<ProbeResult> some = run(std::vector<std::string>(first, last));
        const auto wrong = std::find_if(some.begin(), some.end(), [](const ProbeResult& each) {
            return each.kind == ProbeResult::harmful || each.kind == ProbeResult::unknown;
        });
        const size_t known = size_t(wrong - some.begin());
        results.insert(results.end(), some.begin(), wrong);
        if (wrong == some.end())
            continue;
        if (wrong->kind == ProbeResult::unknown && wrong->what.empty())
            wrong->what = "it ended before its first file";
        const std::string& file = *(first + ptrdiff_t(known));
        results.push_back(wrong->kind == ProbeResult::harmful ? second_try(file, *wrong) : *wrong);
        if (results.back().kind == ProbeResult::unknown)
            results.resize(files.size(), results.back());
    }
    return results;
}

} // namespace scs
