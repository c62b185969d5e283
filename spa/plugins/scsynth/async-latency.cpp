// SPDX-License-Identifier: GPL-3.0-or-later
#include "async-latency.hpp"

#include "host-version.hpp"

#include <string_view>

namespace scs::spa {

int uncounted_cycles(const spa_dict* info) {
    const char* given = info ? spa_dict_lookup(info, "node.async") : nullptr;
    const std::string_view async = given ? given : "";
    if (async != "true" && async != "1")
        return 0;
    const Version version = host_version();
    return version >= Version{1, 2, 0} && version < Version{1, 5, 81};
}

} // namespace scs::spa
