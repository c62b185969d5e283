// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A family is a file of kernels with a list of its UGens. Its last line, SCS_FAMILY(name), makes the list known under
// the file's name with underscores; meson.build lists the files.

#include "engine/ugens/kernel.hpp"

#define SCS_FAMILY(name)                                                                                               \
    extern const std::span<const NativeUgen> name;                                                                     \
    const std::span<const NativeUgen> name = list;
