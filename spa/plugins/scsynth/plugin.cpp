// SPDX-License-Identifier: GPL-3.0-or-later
#include "async-latency.hpp"
#include "host-threads.hpp"
#include "names.hpp"
#include "osc/print-socket.hpp"
#include "spa-node.hpp"
#include "ugen-folders.hpp"

#include <spa/support/plugin.h>

#include <cerrno>
#include <cstring>
#include <exception>
#include <memory>
#include <thread>

namespace scs::spa {
namespace {

/// What the host allocates (zeroed, without a constructor).
struct Handle {
    spa_handle handle;
    spa_node interface;
    SpaNode* node;
};

void log_error(spa_log* log, const std::string& text) {
    Bridge(log, nullptr).log(SPA_LOG_LEVEL_ERROR, text);
}

/// Says why there is no node to the program that asked for it, which sees no log of the daemon's.
void tell_maker(const spa_dict* info, const std::string& reason) {
    // On a thread of its own: the path may be on a file system that doesn't answer.
    if (const char* maker = info ? spa_dict_lookup(info, "scsynth.print-to") : nullptr)
        std::thread([path = std::string(maker), text = "ERROR: " + reason] {
            if (auto socket = osc::PrintSocket::open(path))
                socket.value().print(text);
        }).detach();
}

int refuse(spa_log* log, const spa_dict* info, const std::string& reason) {
    log_error(log, reason);
    tell_maker(info, reason);
    return -EINVAL;
}

int get_interface(spa_handle* handle, const char* type, void** interface) {
    if (!handle || !type || !interface)
        return -EINVAL;
    if (std::strcmp(type, SPA_TYPE_INTERFACE_Node) != 0)
        return -ENOENT;
    *interface = &reinterpret_cast<Handle*>(handle)->interface;
    return 0;
}

int clear(spa_handle* handle) {
    if (!handle)
        return -EINVAL;
    SpaNode*& node = reinterpret_cast<Handle*>(handle)->node;
    if (!node)
        return 0;
    const int res = node->stop();
    if (res >= 0)
        delete node;
    node = nullptr;
    return res;
}

size_t get_size(const spa_handle_factory*, const spa_dict*) {
    return sizeof(Handle);
}

template <class T>
T* find(const spa_support* support, uint32_t count, const char* type) {
    return static_cast<T*>(spa_support_find(support, count, type));
}

int make_node(Handle& self, const spa_dict* info, const Support& support) {
    Result<NodeSettings> settings = read_settings(info);
    if (!settings)
        return refuse(support.log, info, settings.error());
    if (const Error missing = find_missing_loop(info); !missing.what.empty())
        return refuse(support.log, info, missing.what);
    std::string& ugen_path = settings.value().server.engine.ugen_path;
    Result<std::string> allowed = allowed_ugen_path(ugen_path);
    if (!allowed) {
        log_error(support.log, allowed.error());
        return -EPERM;
    }
    ugen_path = std::move(allowed.value());
    settings.value().uncounted_cycles = uncounted_cycles(info);
    auto node = std::make_unique<SpaNode>(support, std::move(settings.value()));
    if (const int res = node->start(); res < 0) {
        if (!node->failure().empty())
            tell_maker(info, node->failure());
        if (node->stop() < 0)
            static_cast<void>(node.release());
        return res;
    }
    self.node = node.release();
    self.interface.iface = {SPA_TYPE_INTERFACE_Node, SPA_VERSION_NODE, {&node_methods, self.node}};
    return 0;
}

int init(const spa_handle_factory*, spa_handle* handle, const spa_dict* info, const spa_support* support,
         uint32_t count) {
    if (!handle)
        return -EINVAL;
    Handle& self = *reinterpret_cast<Handle*>(handle);
    self.handle.version = SPA_VERSION_HANDLE;
    self.handle.get_interface = get_interface;
    self.handle.clear = clear;
    self.node = nullptr;

    Support found;
    found.log = find<spa_log>(support, count, SPA_TYPE_INTERFACE_Log);
    found.data_loop = find<spa_loop>(support, count, SPA_TYPE_INTERFACE_DataLoop);
    found.main_utils = find<spa_loop_utils>(support, count, SPA_TYPE_INTERFACE_LoopUtils);
    found.thread_utils = find<spa_thread_utils>(support, count, SPA_TYPE_INTERFACE_ThreadUtils);
    try {
        if (!found.data_loop || !found.main_utils) {
            log_error(found.log, "the host gives no data loop or no main loop to run on");
            return -EINVAL;
        }
        return make_node(self, info, found);
    } catch (const std::bad_alloc&) {
        return -ENOMEM;
    } catch (const std::exception& error) {
        log_error(found.log, error.what());
        return -EIO;
    }
}

const spa_interface_info interfaces[] = {{SPA_TYPE_INTERFACE_Node}};

int enum_interface_info(const spa_handle_factory*, const spa_interface_info** info, uint32_t* index) {
    if (!info || !index)
        return -EINVAL;
    if (*index >= std::size(interfaces))
        return 0;
    *info = &interfaces[(*index)++];
    return 1;
}

const spa_handle_factory factory = {SPA_VERSION_HANDLE_FACTORY, factory_name, nullptr, get_size, init,
                                    enum_interface_info};

} // namespace
} // namespace scs::spa

/// Enumerates the factories of the library for the host.
extern "C" __attribute__((visibility("default"))) int spa_handle_factory_enum(const spa_handle_factory** found,
                                                                              uint32_t* index) {
    if (!found || !index)
        return -EINVAL;
    const spa_handle_factory* const factories[] = {&scs::spa::factory, &scs::spa::ugen_folders,
                                                   &scs::spa::thread_offer};
    if (*index >= std::size(factories))
        return 0;
    *found = factories[(*index)++];
    return 1;
}
