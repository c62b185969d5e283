// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/hash.hpp"
#include "engine/nodes/node.hpp"

#include <bit>
#include <vector>

namespace scs {

/// Finds nodes by ID: a hash table of fixed size whose chains are linked through the nodes. [rt], after construction.
class NodeIndex {
public:
    explicit NodeIndex(int max_nodes)
        : buckets_(std::bit_ceil(size_t(max_nodes > 0 ? max_nodes : 1)) * 2), max_(max_nodes) {}

    int size() const noexcept { return size_; }
    bool full() const noexcept { return size_ >= max_; }

    Node* find(int32_t id) const noexcept {
        Node* node = buckets_[bucket(id)];
        while (node && node->id != id)
            node = node->same_hash;
        return node;
    }
    /// The caller must have checked that there is room and that the ID is new.
    void add(Node& node) noexcept {
        Node*& head = buckets_[bucket(node.id)];
        node.same_hash = head;
        head = &node;
        ++size_;
    }
    void remove(Node& node) noexcept {
        Node** link = &buckets_[bucket(node.id)];
        while (*link != &node)
            link = &(*link)->same_hash;
        *link = node.same_hash;
        --size_;
    }

private:
    size_t bucket(int32_t id) const noexcept {
        // The second step is Fibonacci hashing, which spreads IDs that are sequential or differ only in their upper
        // bits, as those of clients do, whatever the first one makes of them.
        uint64_t value = uint32_t(id) * multiplier_;
        value = (value ^ value >> 32) * 0x9E3779B97F4A7C15u;
        return size_t(value >> (64 - std::countr_zero(buckets_.size())));
    }

    std::vector<Node*> buckets_;
    const uint64_t multiplier_ = hash_seed | 1;
    int max_, size_ = 0;
};

} // namespace scs
