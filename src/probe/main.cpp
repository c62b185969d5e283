// SPDX-License-Identifier: GPL-3.0-or-later
// pw-scsynth-probe FILE...: loads UGen plugins as a server does, so that one that crashes, or never returns, ends this
// process and not PipeWire's. What becomes of each file is written to the descriptor probe_output, see probe.hpp.
#include "engine/abi/plugin-api.hpp"
#include "engine/abi/plugin-file.hpp"
#include "engine/base/test-sanitized.hpp"
#include "engine/packs/probe.hpp"
#include "probe/stub-table.hpp"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <exception>
#include <fcntl.h>
#include <optional>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

namespace scs {
namespace {

[[maybe_unused]] constexpr rlim_t most_bytes = rlim_t(4) << 30; ///< of memory, so that a plugin can't take all

int file_number = 0; ///< of the file that is being loaded

void say(char what) {
    char line[16];
    const int length = std::snprintf(line, sizeof line, "%c%d\n", what, file_number);
    if (::write(probe_output, line, size_t(length)) != length)
        _exit(EXIT_FAILURE);
}

[[noreturn]] void on_terminate() {
    if (std::current_exception())
        say(probe_throws);
    std::abort();
}

size_t thread_count() {
    struct stat threads;
    return stat("/proc/self/task", &threads) == 0 ? threads.st_nlink : 0;
}

/// false: it can't be loaded.
bool load(const char* path) {
    const size_t threads = thread_count();
    void* const handle = dlopen(path, plugin_flags);
    if (!handle)
        return false;
    const PluginFunctions plugin = functions_of(handle);
    const auto api = plugin.is_complete() ? hosted_api(plugin.api_version()) : std::nullopt;
    if (api && plugin.is_for_this_server())
        plugin.load(stub_table(*api));
    if (thread_count() > threads)
        usleep(500'000); // its threads may crash, too
    return true;
}

} // namespace
} // namespace scs

int main(int argc, char** argv) {
    using namespace scs;
    // It ends with the server, leaves no report of a crash behind (0 would still leave one with systemd-coredump), and
    // plugins' own programs don't keep the pipe open.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const rlimit no_core{1, 1};
    setrlimit(RLIMIT_CORE, &no_core);
#if !defined(SCS_SANITIZED) // the sanitizers' own memory is beyond any limit
    rlimit memory{};
    getrlimit(RLIMIT_DATA, &memory);
    memory.rlim_cur = std::min(memory.rlim_max, most_bytes);
    setrlimit(RLIMIT_DATA, &memory);
#endif
    if (fcntl(probe_output, F_SETFD, FD_CLOEXEC) != 0) {
        std::fputs("pw-scsynth-probe: run by pw-scsynth and PipeWire, to try UGen plugins before they are loaded\n",
                   stderr);
        return EXIT_FAILURE;
    }
    std::set_terminate(on_terminate);
    for (int i = 1; i < argc; ++i) {
        file_number = i - 1;
        say(probe_begins);
        try {
            say(load(argv[i]) ? probe_ends : probe_lacks);
        } catch (...) {
            say(probe_throws);
        }
    }
    _exit(EXIT_SUCCESS); // not by exit(): destructors of plugins aren't of interest
}
