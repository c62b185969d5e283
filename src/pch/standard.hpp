// SPDX-License-Identifier: GPL-3.0-or-later
// The standard headers that most of the server includes, compiled once for each library where meson's b_pch is set, as
// ./demo does. Files include what they need all the same.
#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
