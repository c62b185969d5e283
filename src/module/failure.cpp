// SPDX-License-Identifier: GPL-3.0-or-later
#include "failure.hpp"

#include "ugen-folders.hpp"

#include <spa/support/plugin.h>
#include <spa/utils/result.h>

#include <cerrno>

namespace scs::module {
namespace {

std::string setting(const spa_dict& settings, const char* key, const char* fallback) {
    const char* value = spa_dict_lookup(&settings, key);
    return value ? value : fallback;
}

std::string explain(int code, const spa_dict& settings) {
    const std::string port = "port " + setting(settings, "scsynth.osc.port", "57110");
    switch (-code) {
    case EADDRINUSE: return port + " is taken by another server or program: choose another with scsynth.osc.port";
    case EADDRNOTAVAIL:
        return setting(settings, "scsynth.osc.bind", "127.0.0.1") +
               " is no address of this machine: correct scsynth.osc.bind";
    case EACCES: return port + " is not permitted: choose one above 1023 with scsynth.osc.port";
    case EPERM: return spa::how_to_allow(setting(settings, "scsynth.ugen-path", ""));
    case EINVAL: return "a setting is wrong; the log of the PipeWire daemon names it";
    case ENOENT:
        return "PipeWire finds no library " + setting(settings, SPA_KEY_LIBRARY_NAME, "") + " with a factory " +
               setting(settings, SPA_KEY_FACTORY_NAME, "") +
               ": is the plugin installed, or SPA_PLUGIN_DIR set for the daemon?";
    default: return spa_strerror(code);
    }
}

} // namespace

Failure creation_failure(int code, const spa_dict& settings) {
    return {code, "cannot make the node: " + explain(code, settings)};
}

} // namespace scs::module
