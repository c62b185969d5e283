// SPDX-License-Identifier: GPL-3.0-or-later
#include "ugen-trust.hpp"

#include "plugin-word.hpp"
#include "ugen-folders.hpp"

#include <pipewire/impl.h>

#include <cerrno>

namespace scs::module {
namespace {

/// Lives as long as the module.
class Trust {
public:
    Trust(pw_impl_module* module, spa_handle* handle, const spa::UgenFolders& folders, const char* allowed)
        : handle_(handle), folders_(folders) {
        if (allowed)
            folders_.allow(handle_, allowed);
        folders_.trust(handle_, true);
        pw_impl_module_add_listener(module, &module_listener_, &module_events, this);
        // Before the loop waits for the first time, only the configuration has made nodes.
        pw_loop_add_hook(pw_context_get_main_loop(pw_impl_module_get_context(module)), &loop_hook_, &loop_events, this);
    }
    Trust(const Trust&) = delete;
    Trust& operator=(const Trust&) = delete;

private:
    static const pw_impl_module_events module_events;
    static const spa_loop_control_hooks loop_events;

    ~Trust() {
        spa_hook_remove(&module_listener_);
        spa_hook_remove(&loop_hook_);
        pw_unload_spa_handle(handle_);
    }

    spa_handle* handle_;
    const spa::UgenFolders& folders_;
    spa_hook module_listener_{}, loop_hook_{};
};

const pw_impl_module_events Trust::module_events = {
    .version = PW_VERSION_IMPL_MODULE_EVENTS,
    .destroy = [](void* data) { delete static_cast<Trust*>(data); },
};

const spa_loop_control_hooks Trust::loop_events = {
    .version = SPA_VERSION_LOOP_CONTROL_HOOKS,
    .before =
        [](void* data) {
            auto* trust = static_cast<Trust*>(data);
            trust->folders_.trust(trust->handle_, false);
        },
};

} // namespace

std::optional<Failure> pass_on_trust(pw_impl_module* module, const spa_dict& settings, const char* allowed) {
    spa::UgenFolders* folders = nullptr;
    spa_handle* handle = word_to_plugin(settings, spa::ugen_folders_factory, spa::ugen_folders_interface, folders);
    if (!handle)
        return creation_failure(-errno, settings);
    new Trust(module, handle, *folders, allowed);
    return {};
}

} // namespace scs::module
