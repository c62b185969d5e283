// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <string>

namespace scs::cli {

/// What JACK's clients call the server, as scsynth calls itself: the node's description, of which pipewire-jack and
/// pw-link make the ports' names ("SuperCollider:out_1").
inline constexpr const char* jack_name = "SuperCollider";

/// `name`, or else the first of name-01 to name-99 that isn't taken, as JACK's server names further clients. [any]
std::string free_name(const std::string& name, const std::function<bool(const std::string&)>& taken);

/// Held from looking for a free name until the node has it: two programs that start at once shall not find the same
/// one. Without a runtime directory there is no lock, and nobody waits. [main]
class NameLock {
public:
    NameLock();
    NameLock(const NameLock&) = delete;
    NameLock& operator=(const NameLock&) = delete;
    ~NameLock();

    /// Whether it is held, or can't be.
    bool take();

private:
    int fd_;
};

/// PipeWire's runtime directory, where its socket is looked for; empty if the environment names none. [any]
std::string runtime_folder();
/// Where it names none, as in cron's jobs: the one that the user has while logged in, if it is there. [main]
void adopt_runtime_folder();

} // namespace scs::cli
