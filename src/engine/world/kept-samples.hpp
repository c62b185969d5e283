// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/descriptors.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace scs {

/// Bytes of memory for this number of samples. UGens' interpolation may read past the last one.
size_t sample_bytes(int64_t samples) noexcept;

// Sample memory in files, by which it outlives the process. free_samples() unmaps it and removes the file. [any but rt]

/// Zeroed memory in a new file of a folder; null and errno if there is none, or the file system would be left without
/// a quarter of its room.
float* make_kept_samples(const std::shared_ptr<Descriptor>& folder, const std::string& name, int64_t samples) noexcept;
/// From now on there is none: a pack has commands, which may free a buffer's memory by the C library's free().
void make_no_more_kept_samples() noexcept;
/// The memory in a file that another process has made; null and errno if the file isn't one of this size.
float* open_kept_samples(const std::shared_ptr<Descriptor>& folder, const std::string& name, int64_t samples) noexcept;
/// The name of the file; empty: it is other memory.
std::string name_of_kept(const void* samples);

/// As free() and realloc() for plugins, which may exchange a buffer's memory for their own.
void free_any(void*) noexcept;
void* reallocate_any(void*, size_t bytes) noexcept;

} // namespace scs
