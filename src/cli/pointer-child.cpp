// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/pointer-child.hpp"

#include <csignal>
#include <spawn.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace scs::cli {

PointerChild::PointerChild(const std::string& port, const std::string& address, bool tcp) {
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t none; // this program takes its signals by a descriptor, and blocks them for that
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    std::vector<std::string> words = {"pw-scsynth", "pointer", tcp ? "-t" : "-u", port};
    if (!address.empty() && address != "0.0.0.0")
        words.insert(words.end(), {"-B", address});
    std::vector<char*> arguments;
    for (std::string& word : words)
        arguments.push_back(word.data());
    arguments.push_back(nullptr);
    if (posix_spawn(&process_, "/proc/self/exe", nullptr, &attributes, arguments.data(), environ) != 0)
        process_ = -1;
    posix_spawnattr_destroy(&attributes);
}

PointerChild::~PointerChild() {
    if (process_ <= 0)
        return;
    ::kill(process_, SIGKILL); // it has nothing to end, and may be waiting for the display
    ::waitpid(process_, nullptr, 0);
}

} // namespace scs::cli
