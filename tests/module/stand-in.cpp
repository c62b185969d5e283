// SPDX-License-Identifier: GPL-3.0-or-later
// A node without ports, by the real one's library and factory names: it binds scsynth.osc.port,
// announces its properties, and takes any packet to the port for /quit, which it sends back. To the packet "threads" it
// answers with the IDs of two: the one of its data loop and the one of its cycles.
#include <spa/node/io.h>
#include <spa/node/node.h>
#include <spa/node/utils.h>
#include <spa/support/loop.h>
#include <spa/support/plugin.h>
#include <spa/utils/string.h>

#include <arpa/inet.h>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <unistd.h>

namespace {

struct Node {
    spa_handle handle;
    spa_node interface;
    spa_hook_list hooks;
    spa_loop_utils* loop;
    spa_source* source;
    uint16_t port;
    const char* state;
    std::atomic<int32_t> loop_thread, cycle_thread;
};

Node* self(void* object) {
    return static_cast<Node*>(object);
}

void emit_info(Node* node) {
    const std::string port = std::to_string(node->port);
    const std::string name = node->port == 57110 ? "scsynth" : "scsynth-" + port;
    const spa_dict_item items[] = {{"node.name", name.c_str()},
                                   {"node.always-process", "true"},
                                   {"scsynth.osc.port", port.c_str()},
                                   {"scsynth.state", node->state}};
    spa_dict dict = SPA_DICT_INIT_ARRAY(items);
    spa_node_info info{};
    info.change_mask = SPA_NODE_CHANGE_MASK_FLAGS | SPA_NODE_CHANGE_MASK_PROPS;
    info.flags = SPA_NODE_FLAG_RT;
    info.props = &dict;
    spa_node_emit_info(&node->hooks, &info);
}

void on_packet(void* data, int fd, uint32_t) {
    char packet[64];
    sockaddr_in from{};
    socklen_t size = sizeof from;
    auto* address = reinterpret_cast<sockaddr*>(&from);
    const ssize_t received = recvfrom(fd, packet, sizeof packet, 0, address, &size);
    if (received < 0)
        return;
    if (std::string_view(packet, size_t(received)) == "threads") {
        const std::array<int32_t, 2> threads{self(data)->loop_thread, self(data)->cycle_thread};
        sendto(fd, threads.data(), sizeof threads, 0, address, size);
        return;
    }
    self(data)->state = "quit";
    emit_info(self(data));
    sendto(fd, packet, size_t(received), 0, address, size);
}

int add_listener(void* object, spa_hook* listener, const spa_node_events* events, void* data) {
    spa_hook_list others;
    spa_hook_list_isolate(&self(object)->hooks, &others, listener, events, data);
    emit_info(self(object));
    spa_hook_list_join(&self(object)->hooks, &others);
    return 0;
}

const spa_node_methods methods = {
    .version = SPA_VERSION_NODE_METHODS,
    .add_listener = add_listener,
    .set_callbacks = [](void*, const spa_node_callbacks*, void*) { return 0; },
    .enum_params = [](void*, int, uint32_t, uint32_t, uint32_t, const spa_pod*) { return -ENOENT; },
    .set_param = [](void*, uint32_t, uint32_t, const spa_pod*) { return -ENOENT; },
    .set_io = [](void*, uint32_t, void*, size_t) { return 0; },
    .send_command = [](void*, const spa_command*) { return 0; },
    .process = [](void* object) -> int {
        self(object)->cycle_thread = gettid();
        return SPA_STATUS_HAVE_DATA;
    },
};

int get_interface(spa_handle* handle, const char* type, void** interface) {
    if (std::strcmp(type, SPA_TYPE_INTERFACE_Node) != 0)
        return -ENOENT;
    *interface = &reinterpret_cast<Node*>(handle)->interface;
    return 0;
}

int clear(spa_handle* handle) {
    auto* node = reinterpret_cast<Node*>(handle);
    spa_loop_utils_destroy_source(node->loop, node->source);
    return 0;
}

/// A socket on the port of `info`, or a negative errno.
int bind_port(const spa_dict* info, uint16_t& port) {
    const char* text = spa_dict_lookup(info, "scsynth.osc.port");
    uint32_t wanted = 57110;
    if ((text && !spa_atou32(text, &wanted, 10)) || wanted > 65535)
        return -EINVAL;
    const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(uint16_t(wanted));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    if (bind(fd, reinterpret_cast<sockaddr*>(&address), size) < 0) {
        const int res = -errno;
        close(fd);
        return res;
    }
    getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
    port = ntohs(address.sin_port);
    return fd;
}

int init(const spa_handle_factory*, spa_handle* handle, const spa_dict* info, const spa_support* support,
         uint32_t count) {
    auto* node = reinterpret_cast<Node*>(handle);
    const int fd = bind_port(info, node->port);
    if (fd < 0)
        return fd;
    spa_hook_list_init(&node->hooks);
    node->handle = {SPA_VERSION_HANDLE, get_interface, clear};
    node->interface.iface = SPA_INTERFACE_INIT(SPA_TYPE_INTERFACE_Node, SPA_VERSION_NODE, &methods, node);
    node->state = "running";
    node->loop = static_cast<spa_loop_utils*>(spa_support_find(support, count, SPA_TYPE_INTERFACE_LoopUtils));
    node->source = spa_loop_utils_add_io(node->loop, fd, SPA_IO_IN, true, on_packet, node);
    auto* data_loop = static_cast<spa_loop*>(spa_support_find(support, count, SPA_TYPE_INTERFACE_DataLoop));
    spa_loop_invoke(
        data_loop,
        [](spa_loop*, bool, uint32_t, const void*, size_t, void* data) {
            self(data)->loop_thread = gettid();
            return 0;
        },
        0, nullptr, 0, true, node);
    return 0;
}

const spa_handle_factory factory = {
    .version = SPA_VERSION_HANDLE_FACTORY,
    .name = "audio.scsynth",
    .info = nullptr,
    .get_size = [](const spa_handle_factory*, const spa_dict*) { return sizeof(Node); },
    .init = init,
    .enum_interface_info = [](const spa_handle_factory*, const spa_interface_info**, uint32_t*) { return 0; },
};

} // namespace

extern "C" SPA_EXPORT int spa_handle_factory_enum(const spa_handle_factory** found, uint32_t* index) {
    if (*index > 0)
        return 0;
    *found = &factory;
    ++*index;
    return 1;
}
