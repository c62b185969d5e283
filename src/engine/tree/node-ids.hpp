// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/tree/node-index.hpp"

namespace scs {

/// The IDs of the nodes: those that clients choose, and negative ones. [rt], after construction.
class NodeIds {
public:
    explicit NodeIds(int max_nodes) : index_(max_nodes) {}

    bool full() const noexcept { return index_.full(); }
    /// The node of that ID, or null. -1 means the one that was added last.
    Node* find(int32_t id) const noexcept { return index_.find(id == -1 ? recent_ : id); }
    /// The caller must have checked that there is room and that the ID is new.
    void add(Node& node) noexcept {
        index_.add(node);
        recent_ = node.id;
    }
    void remove(Node& node) noexcept { index_.remove(node); }
    void rename(Node& node, int32_t id) noexcept {
        index_.remove(node);
        node.id = id;
        index_.add(node);
    }
    /// A negative ID that no node has.
    int32_t next_hidden() noexcept {
        do
            hidden_ = int32_t(uint32_t(hidden_ - 8) | 0x80000000u);
        while (index_.find(hidden_));
        return hidden_;
    }

private:
    NodeIndex index_;
    int32_t hidden_ = -8, recent_ = 0;
};

} // namespace scs
