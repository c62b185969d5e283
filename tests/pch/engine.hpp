// SPDX-License-Identifier: GPL-3.0-or-later
// What the tests of tests/engine include, compiled once for each program where meson's b_pch is set.
#include "test-support.hpp"
#include <doctest/doctest.h>
