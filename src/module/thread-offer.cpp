// SPDX-License-Identifier: GPL-3.0-or-later
#include "module/thread-offer.hpp"

#include "host-threads.hpp"

#include <pipewire/pipewire.h>

namespace scs::module {
namespace {

/// Lives as long as the module.
class Offer {
public:
    Offer(pw_impl_module* module, spa_handle* handle) : handle_(handle) {
        pw_impl_module_add_listener(module, &listener_, &events, this);
    }
    Offer(const Offer&) = delete;
    Offer& operator=(const Offer&) = delete;

private:
    static const pw_impl_module_events events;

    ~Offer() {
        spa_hook_remove(&listener_);
        pw_unload_spa_handle(handle_);
    }

    spa_handle* handle_;
    spa_hook listener_{};
};

const pw_impl_module_events Offer::events = {
    .version = PW_VERSION_IMPL_MODULE_EVENTS,
    .destroy = [](void* data) { delete static_cast<Offer*>(data); },
};

} // namespace

spa_handle* offer_threads(pw_context* context, const spa_dict& settings) {
    auto* utils = static_cast<spa_thread_utils*>(pw_context_get_object(context, SPA_TYPE_INTERFACE_ThreadUtils));
    if (!utils)
        return nullptr;
    // Not by the context, which would count it among what runs on one of its data loops.
    spa_handle* handle = pw_load_spa_handle(spa_dict_lookup(&settings, SPA_KEY_LIBRARY_NAME), spa::thread_offer_factory,
                                            nullptr, 0, nullptr);
    if (!handle)
        return nullptr;
    void* offer = nullptr;
    if (spa_handle_get_interface(handle, spa::thread_offer_interface, &offer) < 0) {
        pw_unload_spa_handle(handle);
        return nullptr;
    }
    static_cast<spa::ThreadOffer*>(offer)->offer(handle, utils);
    return handle;
}

void offer_threads(pw_impl_module* module, const spa_dict& settings) {
    if (spa_handle* handle = offer_threads(pw_impl_module_get_context(module), settings))
        new Offer(module, handle);
}

} // namespace scs::module
