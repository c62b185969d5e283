// SPDX-License-Identifier: GPL-3.0-or-later
#include "osc/proc-texts.hpp"

#include <cstdlib>

using namespace scs::osc;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    (void)parse_status(text);
    (void)is_confined_snap(text);
    (void)socket_inode(text);
    if (const auto group = unified_group(text); group && group->find('\n') != group->npos)
        std::abort();
    if (const auto folder = unified_groups_folder(text); folder && folder->size() > size)
        std::abort();
    // What follows doesn't change what was found.
    if (const auto mount = root_mount(text); mount && root_mount(std::string(text) + "\n1 2 3 / / rw\n") != mount)
        std::abort();
    return 0;
}
