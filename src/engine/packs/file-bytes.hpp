// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/packs/plugin-files.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace scs {

/// A file's content, or why there is none.
struct FileBytes {
    std::vector<std::byte> bytes;
    FileIdentity identity; ///< that the file had while it was read
    std::string problem;
};

/// [worker] Reads a regular file of at most `most` bytes. It is a problem if it is written to meanwhile.
FileBytes read_file(const std::string& path, size_t most);

} // namespace scs
