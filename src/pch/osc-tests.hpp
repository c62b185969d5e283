// SPDX-License-Identifier: GPL-3.0-or-later
// What the tests of src/osc include, compiled once for each program where meson's b_pch is set.
#include "osc/test-command-bench.hpp"
#include "osc/test-rig.hpp"
#include <doctest/doctest.h>
