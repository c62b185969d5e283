// SPDX-License-Identifier: GPL-3.0-or-later
// What most unit tests include, compiled once for each program where meson's b_pch is set.
#include "pch/standard.hpp"
#include <doctest/doctest.h>
