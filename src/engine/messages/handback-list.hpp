// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/messages/command.hpp"

#include <utility>

namespace scs {

/// A list of handbacks, linked by their own links: it needs no memory. [one thread at a time]
class HandbackList {
public:
    bool empty() const noexcept { return !first_; }
    void push_back(Handback* item) noexcept {
        item->next_handback = nullptr;
        (first_ ? last_->next_handback : first_) = item;
        last_ = item;
    }
    void push_front(Handback* item) noexcept {
        item->next_handback = first_;
        if (!first_)
            last_ = item;
        first_ = item;
    }
    /// Null if it is empty.
    Handback* pop_front() noexcept { return first_ ? std::exchange(first_, first_->next_handback) : nullptr; }

    /// Takes out the first that pred(Handback&) is true for, which is called for each before it, too; null: none.
    template <class Predicate>
    Handback* take_first(Predicate&& pred) noexcept {
        Handback* before = nullptr;
        for (Handback* item = first_; item; before = std::exchange(item, item->next_handback)) {
            if (!pred(*item))
                continue;
            (before ? before->next_handback : first_) = item->next_handback;
            if (item == last_)
                last_ = before;
            return item;
        }
        return nullptr;
    }

private:
    Handback* first_ = nullptr;
    Handback* last_ = nullptr;
};

} // namespace scs
