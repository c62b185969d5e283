// SPDX-License-Identifier: GPL-3.0-or-later
#include "thread-offer.hpp"

#include "host-threads.hpp"
#include "plugin-word.hpp"

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
    spa::ThreadOffer* threads = nullptr;
    spa_handle* handle = word_to_plugin(settings, spa::thread_offer_factory, spa::thread_offer_interface, threads);
    if (handle)
        threads->offer(handle, utils);
    return handle;
}

void offer_threads(pw_impl_module* module, const spa_dict& settings) {
    if (spa_handle* handle = offer_threads(pw_impl_module_get_context(module), settings))
        new Offer(module, handle);
}

} // namespace scs::module
