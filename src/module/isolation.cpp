// SPDX-License-Identifier: GPL-3.0-or-later
#include "isolation.hpp"

#include <string_view>

namespace scs::module {

std::optional<Isolation> isolation_of(const Properties& settings) {
    const char* value = pw_properties_get(settings.get(), "scsynth.isolation");
    const std::string_view text = value ? value : "loop";
    if (text == "loop")
        return Isolation::loop;
    if (text == "process")
        return Isolation::process;
    return {};
}

} // namespace scs::module
