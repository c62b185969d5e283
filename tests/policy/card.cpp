// SPDX-License-Identifier: GPL-3.0-or-later
// A sound card without profiles, routes or nodes of its own: nothing but its properties.
// usage: card [key=value…]
// SIGTERM ends it.
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <string>

#include <pipewire/pipewire.h>
#include <spa/monitor/device.h>
#include <spa/monitor/utils.h>

namespace {

struct Card {
    spa_device interface {};
    spa_hook_list hooks{};
    pw_properties* properties = nullptr;
};

int add_listener(void* object, spa_hook* listener, const spa_device_events* events, void* data) {
    auto* card = static_cast<Card*>(object);
    spa_hook_list others;
    spa_hook_list_isolate(&card->hooks, &others, listener, events, data);
    spa_device_info info = SPA_DEVICE_INFO_INIT();
    info.change_mask = SPA_DEVICE_CHANGE_MASK_PROPS;
    info.props = &card->properties->dict;
    spa_device_emit_info(&card->hooks, &info);
    spa_hook_list_join(&card->hooks, &others);
    return 0;
}

int sync(void* object, int number) {
    spa_device_emit_result(&static_cast<Card*>(object)->hooks, number, 0, 0, nullptr);
    return 0;
}

int enum_params(void*, int, uint32_t, uint32_t, uint32_t, const spa_pod*) {
    return -ENOENT;
}

int set_param(void*, uint32_t, uint32_t, const spa_pod*) {
    return -ENOENT;
}

const spa_device_methods methods = {SPA_VERSION_DEVICE_METHODS, add_listener, sync, enum_params, set_param};

void on_signal(void* data, int) {
    pw_main_loop_quit(static_cast<pw_main_loop*>(data));
}

} // namespace

int main(int argc, char** argv) {
    pw_init(&argc, &argv);
    pw_main_loop* main_loop = pw_main_loop_new(nullptr);
    pw_loop* loop = pw_main_loop_get_loop(main_loop);
    pw_context* context = pw_context_new(loop, nullptr, 0);
    pw_core* core = pw_context_connect(context, nullptr, 0);
    if (!core) {
        std::fprintf(stderr, "cannot connect to PipeWire\n");
        return 1;
    }
    Card card;
    card.properties = pw_properties_new(PW_KEY_MEDIA_CLASS, "Audio/Device", nullptr);
    for (int i = 1; i < argc; ++i) {
        const std::string assignment = argv[i];
        const auto split = assignment.find('=');
        if (split != std::string::npos)
            pw_properties_set(card.properties, assignment.substr(0, split).c_str(),
                              assignment.substr(split + 1).c_str());
    }
    spa_hook_list_init(&card.hooks);
    card.interface.iface = SPA_INTERFACE_INIT(SPA_TYPE_INTERFACE_Device, SPA_VERSION_DEVICE, &methods, &card);
    pw_core_export(core, SPA_TYPE_INTERFACE_Device, &card.properties->dict, &card.interface, 0);
    pw_loop_add_signal(loop, SIGTERM, on_signal, main_loop);
    pw_main_loop_run(main_loop);
    pw_core_disconnect(core);
    pw_context_destroy(context);
    pw_properties_free(card.properties);
    pw_main_loop_destroy(main_loop);
    pw_deinit();
}
