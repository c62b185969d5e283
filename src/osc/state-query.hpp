// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/nonblocking.hpp"
#include "engine/messages/command.hpp"
#include "engine/nodes/walk-places.hpp"
#include "osc/server-state.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace scs::osc {

/// Nodes of the tree as the data loop has copied them, in the order of the walk.
class StatePage {
public:
    /// Room for this number of control buses. [osc]
    explicit StatePage(int control_buses) : buses_(size_t(control_buses)) {}

    /// [osc] Whether the walk began with this page, and whether it has ended with it.
    bool is_first() const noexcept { return was_first_; }
    bool is_last() const noexcept { return next_.none(); }
    /// [osc] Whether the nodes with which it was to begin were gone, so that it is empty.
    bool lost_its_place() const noexcept { return lost_; }
    /// [osc] The control buses, if it is the first page, up to the last that isn't 0.
    std::span<const float> buses() const noexcept { return {buses_.data(), num_buses_}; }
    /// [osc] Appends what it has.
    void append_to(std::vector<NodeState>&) const;
    /// [osc] The next one begins at the root.
    void begin() noexcept { first_ = true; }

    /// [rt] Copies what comes next. Less than a page where time is short.
    void fill(Engine&) noexcept SCS_NONBLOCKING;

private:
    struct Entry {
        int32_t id, parent;
        Satellite satellite;
        bool group, parallel, paused;
        uint32_t name_size, values, mapped;
    };
    /// Items in a row, as far as there is room.
    template <class T, size_t most>
    struct Row {
        std::array<T, most> items{}; // touched, so that the data loop doesn't wait for the memory
        size_t count = 0;
        bool has_room(size_t more) const noexcept { return more <= most - count; }
        void add(const T& item) noexcept { items[count++] = item; }
    };

    void copy_buses(Engine&) noexcept SCS_NONBLOCKING;
    bool copy(Definitions&, const Node&) noexcept SCS_NONBLOCKING;
    bool copy_synth(Definitions&, const Synth&, Entry&) noexcept SCS_NONBLOCKING;

    // What bounds a page: a server that plays to its limit shall not lose a block to it.
    Row<Entry, 256> entries_;
    Row<char, 16384> names_;
    Row<float, 8192> values_;
    Row<NodeState::Mapped, 2048> mapped_;
    std::vector<float> buses_;
    size_t num_buses_ = 0;
    WalkPlaces next_;
    bool first_ = true, was_first_ = false, lost_ = false;
};

/// Fills a page on the data loop, and tells the OSC thread of it.
class StateQuery final : public Command {
public:
    /// [osc] `filled` is called on this thread. The page belongs to both.
    StateQuery(std::shared_ptr<StatePage> page, std::function<void()> filled)
        : page_(std::move(page)), filled_(std::move(filled)) {}

    Outcome run(Engine& engine) noexcept override {
        page_->fill(engine);
        return Outcome::reply;
    }
    void answer(ReplyPort&) override { filled_(); }
    bool may_change() const noexcept override { return false; }

private:
    std::shared_ptr<StatePage> page_;
    std::function<void()> filled_;
};

} // namespace scs::osc
