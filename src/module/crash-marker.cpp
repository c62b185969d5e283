// SPDX-License-Identifier: GPL-3.0-or-later
#include "crash-marker.hpp"

#include "engine/base/printable.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fcntl.h>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace scs::module {
namespace {

constexpr size_t longest_line = 400; ///< bytes that are read

/// The begin of a file, if it is one: anything may lie there, and whoever may write there may have written it.
std::string first_line(const std::string& path) {
    std::array<char, longest_line> text{};
    size_t size = 0;
    struct stat status;
    if (const int fd = open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC); fd >= 0) {
        if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode))
            size = size_t(std::max<ssize_t>(read(fd, text.data(), text.size()), 0));
        close(fd);
    }
    const std::string_view all(text.data(), size);
    return printable(all.substr(0, all.find('\n')));
}

std::string port_of(const Properties& settings) {
    const char* port = pw_properties_get(settings.get(), "scsynth.osc.port");
    return port ? port : "57110";
}

/// A path in our folder in the user's runtime folder, which is made; empty: the user has none.
std::string in_runtime_folder(const std::string& name) {
    const char* folder = std::getenv("XDG_RUNTIME_DIR");
    if (!folder || !*folder)
        return {};
    const std::string own = std::string(folder) + "/pw-scsynth";
    mkdir(own.c_str(), S_IRWXU);
    return own + "/" + name;
}

} // namespace

std::string crash_marker_path(const Properties& settings) {
    const char* name = pw_properties_get(settings.get(), "node.name");
    std::string node = port_of(settings);
    if (node == "0")
        node = name ? name : "";
    std::replace(node.begin(), node.end(), '/', '-');
    return node.empty() ? std::string() : in_runtime_folder("crashed-" + node);
}

std::string kept_folder_path(const Properties& settings) {
    const std::string port = port_of(settings);
    return port == "0" ? std::string() : in_runtime_folder("kept-" + port);
}

std::optional<std::string> take_crash_marker(const std::string& path) {
    if (path.empty())
        return {};
    std::string line = first_line(path);
    return unlink(path.c_str()) == 0 ? std::optional(std::move(line)) : std::nullopt;
}

} // namespace scs::module
