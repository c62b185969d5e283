// SPDX-License-Identifier: GPL-3.0-or-later
#include "spa-node.hpp"

#include <cerrno>
#include <new>

namespace scs::spa {
namespace {

/// A method as a C function that lets nothing thrown out into the host.
template <auto method>
struct Guarded;

template <class... Arguments, int (SpaNode::*method)(Arguments...)>
struct Guarded<method> {
    static int call(void* node, Arguments... arguments) noexcept {
        try {
            return (static_cast<SpaNode*>(node)->*method)(arguments...);
        } catch (const std::bad_alloc&) {
            return -ENOMEM;
        } catch (...) {
            return -EIO;
        }
    }
};

int process(void* node) noexcept {
    return static_cast<SpaNode*>(node)->cycle().process();
}

spa_node_methods make_methods() {
    spa_node_methods methods{};
    methods.version = SPA_VERSION_NODE_METHODS;
    methods.add_listener = Guarded<&SpaNode::add_listener>::call;
    methods.set_callbacks = Guarded<&SpaNode::set_callbacks>::call;
    methods.sync = Guarded<&SpaNode::sync>::call;
    methods.enum_params = Guarded<&SpaNode::enum_params>::call;
    methods.set_param = Guarded<&SpaNode::set_param>::call;
    methods.set_io = Guarded<&SpaNode::set_io>::call;
    methods.send_command = Guarded<&SpaNode::send_command>::call;
    methods.port_enum_params = Guarded<&SpaNode::port_enum_params>::call;
    methods.port_set_param = Guarded<&SpaNode::port_set_param>::call;
    methods.port_use_buffers = Guarded<&SpaNode::port_use_buffers>::call;
    methods.port_set_io = Guarded<&SpaNode::port_set_io>::call;
    methods.port_reuse_buffer = Guarded<&SpaNode::port_reuse_buffer>::call;
    methods.process = process;
    return methods;
}

} // namespace

const spa_node_methods node_methods = make_methods();

} // namespace scs::spa
