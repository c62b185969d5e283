// SPDX-License-Identifier: GPL-3.0-or-later
#include "crash-marker.hpp"
#include "engine/base/printable.hpp"
#include "isolation.hpp"
#include "local-node.hpp"
#include "log-topic.hpp"
#include "names.hpp"
#include "process-node.hpp"
#include "remote-node.hpp"
#include "settings.hpp"
#include "thread-offer.hpp"
#include "ugen-trust.hpp"

#include <pipewire/impl.h>
#include <spa/utils/json.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string_view>

namespace scs::module {
namespace {

spa_log_topic topic = SPA_LOG_TOPIC(0, "mod.scsynth");

#ifdef PW_LOG_TOPIC_DEFINE_STATIC
/// Since PipeWire 1.1 it sets the levels of those topics that it knows.
struct KnownTopic {
    KnownTopic() noexcept { pw_log_topic_register(&topic); }
    ~KnownTopic() { pw_log_topic_unregister(&topic); }
} known_topic;
#endif

constexpr spa_dict_item module_info[] = {
    {PW_KEY_MODULE_DESCRIPTION, "A SuperCollider server in the graph"},
    {PW_KEY_MODULE_USAGE, "[ scsynth.<setting>=<value> … ] [ <node property>=<value> … ] "
                          "[ scsynth.ugen-paths.allowed=<folders> ] [ scsynth.node=false ] "
                          "[ library.name=<SPA library> ] [ factory.name=<SPA factory> ] "
                          "[ program.name=<pw-scsynth, for scsynth.isolation=process> ] "
                          "[ remote.name=<daemon, if loaded by a client> ]"},
    {PW_KEY_MODULE_VERSION, SCS_VERSION},
};

/// The user's settings, with the module's own defaults; null if `args` can't be read as settings.
Properties parse(const char* args) {
    Properties settings(
        pw_properties_new(SPA_KEY_FACTORY_NAME, spa::factory_name, SPA_KEY_LIBRARY_NAME, spa::library_name, nullptr));
    const std::string_view text = args ? args : "";
    if (!settings || text.find_first_not_of(" \t\r\n{}") == text.npos)
        return settings;
    if (pw_properties_update_string(settings.get(), text.data(), text.size()) <= 0)
        settings.reset();
    return settings;
}

bool in_daemon(pw_impl_module* module) {
    const pw_properties* host = pw_context_get_properties(pw_impl_module_get_context(module));
    return pw_properties_get_bool(host, PW_KEY_CORE_DAEMON, false);
}

/// Overwrites the password in `args` with asterisks: every client of PipeWire can read a module's arguments.
void hide_password(char* args) {
    spa_json outer, json;
    spa_json_init(&outer, args, std::strlen(args));
    if (spa_json_enter_object(&outer, &json) <= 0)
        spa_json_init(&json, args, std::strlen(args));
    char key[1024]; // PipeWire reads no longer ones
    while (spa_json_get_string(&json, key, sizeof key) > 0) {
        const char* value = nullptr;
        const int size = spa_json_next(&json, &value);
        if (size <= 0)
            return;
        if (std::string_view(key) == "scsynth.password")
            std::fill_n(args + (value - args), size, '*');
        else if (spa_json_is_container(value, size))
            spa_json_container_len(&json, value, size);
    }
}

std::optional<Failure> make_daemon_node(pw_impl_module* module, Properties settings) {
    const auto isolation = isolation_of(settings);
    if (!isolation)
        return Failure{-EINVAL, "scsynth.isolation may be loop or process"};
    const std::string marker = crash_marker_path(settings);
    const auto cause = take_crash_marker(marker);
    const bool crashed = cause && has_program(settings);
    if (crashed)
        pw_logt_warn(log_topic, "the last run crashed (%s): this time the node runs in a process of its own",
                     cause->c_str());
    if (!marker.empty())
        pw_properties_set(settings.get(), "scsynth.crash-marker", marker.c_str());
    if (const std::string kept = kept_folder_path(settings);
        !kept.empty() && !pw_properties_get(settings.get(), "scsynth.keep-path"))
        pw_properties_set(settings.get(), "scsynth.keep-path", kept.c_str());
    const bool apart = crashed || isolation == Isolation::process;
    pw_properties_set(settings.get(), "scsynth.isolation",
                      crashed ? "process (the last run crashed)"
                      : apart ? "process"
                              : "loop");
    add_daemon_defaults(module, settings);
    return apart ? make_process_node(module, std::move(settings)) : make_local_node(module, std::move(settings));
}

/// In a client it is printed: a client's log is off by default (client.conf), and pw-cli says only that it failed.
void print(const std::string& text) {
    std::fprintf(stderr, "libpipewire-module-scsynth: %s\n", text.c_str());
}

/// What the plugin in the daemon would find wrong, and say in the daemon's log alone.
std::optional<Failure> check(const Properties& settings) {
    const auto is = [&](const char* key, std::string_view value) {
        return pw_properties_get(settings.get(), key) == value;
    };
    if (!is(SPA_KEY_LIBRARY_NAME, spa::library_name) || !is(SPA_KEY_FACTORY_NAME, spa::factory_name))
        return {}; // another plugin, with settings of its own
    const auto read = spa::read_settings(&settings->dict);
    if (!read)
        return Failure{-EINVAL, read.error()};
    for (const std::string& warning : read.value().warnings)
        print(warning);
    return {};
}

std::optional<Failure> make_node(pw_impl_module* module, const char* args) try {
    Properties settings = parse(args);
    if (!settings)
        return Failure{-EINVAL, "args are no list of key = value"};
    if (in_daemon(module)) {
        const char* allowed = pw_properties_get(settings.get(), "scsynth.ugen-paths.allowed");
        const bool makes_node = pw_properties_get_bool(settings.get(), "scsynth.node", true);
        // Another plugin of the same factory, as tests have it, may know nothing of trust.
        if (auto failure = pass_on_trust(module, settings->dict, allowed); failure && (allowed || !makes_node))
            return failure;
        offer_threads(module, settings->dict);
        for (const char* key : {"scsynth.ugen-paths.allowed", "scsynth.node"})
            pw_properties_set(settings.get(), key, nullptr);
        return makes_node ? make_daemon_node(module, std::move(settings)) : std::nullopt;
    }
    if (isolation_of(settings) != Isolation::loop)
        return Failure{-EINVAL,
                       "scsynth.isolation may be loop here: pw-scsynth --client runs a server in a process of its own"};
    if (auto failure = check(settings))
        return failure;
    return make_remote_node(std::move(settings));
} catch (const std::exception& error) {
    return Failure{-ENOMEM, error.what()};
}

void report(const Failure& failure, bool to_log) {
    if (to_log)
        pw_logt_error(log_topic, "%s", printable(failure.text).c_str());
    else
        print(failure.text);
}

} // namespace

spa_log_topic* const log_topic = &topic;

} // namespace scs::module

/// Called by PipeWire with the args of the configuration, or of pw-cli load-module. [main]
extern "C" SPA_EXPORT int pipewire__module_init(pw_impl_module* module, const char* args) {
    using namespace scs::module;
    PW_LOG_TOPIC_INIT(log_topic);
    // PipeWire's own copy, which it shows.
    if (char* shown = const_cast<char*>(pw_impl_module_get_info(module)->args))
        hide_password(shown);
    if (const auto failure = make_node(module, args)) {
        report(*failure, in_daemon(module));
        return failure->code;
    }
    const spa_dict info = SPA_DICT_INIT_ARRAY(module_info);
    pw_impl_module_update_properties(module, &info);
    return 0;
}
