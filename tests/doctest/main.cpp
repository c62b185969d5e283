// SPDX-License-Identifier: GPL-3.0-or-later
// Its signal handlers would replace those under test.
#define DOCTEST_CONFIG_NO_POSIX_SIGNALS
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
