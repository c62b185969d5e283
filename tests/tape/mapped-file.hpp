// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <string>

namespace scs::test {

/// Memory that is shared with a reader through a file.
class MappedFile {
public:
    MappedFile() = default;
    ~MappedFile();
    MappedFile(const MappedFile&) = delete;
    MappedFile& operator=(const MappedFile&) = delete;

    /// [main] Maps a file that exists, and makes it `size` bytes long if it is shorter; what is in it stays. 0 or a
    /// negative errno.
    int open(const std::string& path, size_t size);

    /// Null before open().
    void* memory() const noexcept { return memory_; }

private:
    void* memory_ = nullptr;
    size_t size_ = 0;
};

} // namespace scs::test
