// SPDX-License-Identifier: GPL-3.0-or-later
#include "isolation.hpp"

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

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

std::string heap_marker_path(const Properties& settings) {
    const char* folder = std::getenv("XDG_RUNTIME_DIR");
    const char* port = pw_properties_get(settings.get(), "scsynth.osc.port");
    const char* name = pw_properties_get(settings.get(), "node.name");
    std::string node = port ? port : "57110";
    if (node == "0")
        node = name ? name : "";
    if (!folder || !*folder || node.empty())
        return {};
    std::replace(node.begin(), node.end(), '/', '-');
    const std::string own = std::string(folder) + "/pw-scsynth";
    mkdir(own.c_str(), S_IRWXU);
    return own + "/heap-corrupted-" + node;
}

bool take_heap_marker(const std::string& path) {
    return !path.empty() && unlink(path.c_str()) == 0;
}

} // namespace scs::module
