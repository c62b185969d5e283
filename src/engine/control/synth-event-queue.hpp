// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/messages/synth-event.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>

namespace scs {

/// What synths have told bindings, until the block after that in which they did. [rt]
class SynthEventQueue {
public:
    static constexpr size_t most = 1024, most_values = 8192;

    struct Entry {
        int32_t binding, node, id;
        int32_t block; ///< in which it was told
        int32_t frame; ///< of that block
        uint32_t place;
        uint32_t first_value, values;
        bool gone; ///< its binding is
    };

    /// false: there is no room.
    bool add(int32_t binding, const SynthEvent& event, int32_t block) noexcept {
        if (count_ == most || event.values.size() > most_values - value_count_)
            return false;
        entries_[count_] = {binding,
                            event.node,
                            event.id,
                            block,
                            event.frame,
                            uint32_t(count_),
                            uint32_t(value_count_),
                            uint32_t(event.values.size())};
        std::copy(event.values.begin(), event.values.end(), values_.begin() + value_count_);
        value_count_ += event.values.size();
        ++count_;
        return true;
    }
    void clear() noexcept { next_ = count_ = value_count_ = 0; }
    bool empty() const noexcept { return next_ == count_; }
    bool full() const noexcept { return count_ == most; }
    /// What this binding has heard has no effect.
    void forget(int32_t binding) noexcept {
        for (size_t i = next_; i < count_; ++i)
            entries_[i].gone |= entries_[i].binding == binding;
    }

    /// Before a block: puts what was told in earlier ones into the order of its frames, and makes room.
    void sort(int32_t block) noexcept {
        compact();
        const auto order = [block](const Entry& e) {
            return std::tuple(int32_t(uint32_t(e.block) - uint32_t(block)), e.frame, e.place);
        };
        std::sort(entries_.begin(), entries_.begin() + count_,
                  [&](const Entry& a, const Entry& b) { return order(a) < order(b); });
    }
    /// The next one; there must be one.
    const Entry& first() const noexcept { return entries_[next_]; }
    std::span<const float> values(const Entry& entry) const noexcept {
        return std::span(values_).subspan(entry.first_value, entry.values);
    }
    void pop() noexcept {
        if (++next_ == count_)
            clear();
    }

private:
    /// Moves what is left to the front. Its values lie in the order of `place`.
    void compact() noexcept {
        if (next_ == 0)
            return;
        std::copy(entries_.begin() + next_, entries_.begin() + count_, entries_.begin());
        count_ -= next_;
        next_ = 0;
        std::sort(entries_.begin(), entries_.begin() + count_,
                  [](const Entry& a, const Entry& b) { return a.place < b.place; });
        value_count_ = 0;
        for (size_t i = 0; i < count_; ++i) {
            Entry& entry = entries_[i];
            const auto from = values_.begin() + entry.first_value;
            std::copy(from, from + entry.values, values_.begin() + value_count_);
            entry.place = uint32_t(i);
            entry.first_value = uint32_t(value_count_);
            value_count_ += entry.values;
        }
    }

    std::array<Entry, most> entries_; ///< from next_ to count_
    std::array<float, most_values> values_;
    size_t next_ = 0, count_ = 0, value_count_ = 0;
};

} // namespace scs
