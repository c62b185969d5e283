// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/nonblocking.hpp"
#include "engine/control/binding.hpp"
#include "engine/control/event-queue.hpp"
#include "engine/control/synth-event-queue.hpp"
#include "engine/control/transport.hpp"

#include <array>
#include <cstddef>
#include <memory>
#include <span>

namespace scs {

class Deadline;
class PluginWorld;

/// The bindings of an engine, and the events that wait for their block. [rt], after construction.
class Bindings {
public:
    static constexpr size_t most = 256;
    static constexpr size_t most_told = 1024; ///< by clients, before a block

    Bindings(const BindingTargets& targets, PluginWorld& world, Deadline& deadline) noexcept
        : targets_(targets), world_(world), deadline_(deadline) {}

    /// Puts a binding in, at the place of the one of the same ID if there is one, which ends, and is left in `binding`.
    /// false: there are too many.
    bool put(std::unique_ptr<Binding>& binding) noexcept SCS_NONBLOCKING;
    /// Takes it out, and ends it. Null: there is none of that ID.
    std::unique_ptr<Binding> take(int32_t id) noexcept SCS_NONBLOCKING;
    size_t count() const noexcept { return count_; }
    /// In the order of their arrival. `index`: less than count().
    const Binding& at(size_t index) const noexcept { return *bindings_[index]; }

    /// Begins a cycle. `start`: the time of its first frame. `rate`: frames per second. `events`: what the control
    /// ports bring in it; without a binding only last_moved() looks at them. `transports`: in the order of their
    /// frames; none: it goes on as it did. Returns how many events there was no room for, or couldn't be taken, and how
    /// many that synths told, since the last call.
    size_t begin_cycle(NtpTime start, double rate, std::span<const ControlEvent> events,
                       std::span<const Transport> transports) noexcept SCS_NONBLOCKING;
    /// The cycle had that many frames.
    void end_cycle(int frames) noexcept SCS_NONBLOCKING;
    /// What a client tells of a device: an event at the begin of the block that is computed next. One that there is no
    /// room for is counted.
    void tell(const ControlEvent&) noexcept SCS_NONBLOCKING;
    /// The last event that was no note. Null: there hasn't been any.
    const ControlEvent* last_moved() const noexcept { return moved_ ? &last_moved_ : nullptr; }
    /// Forgets the events that wait.
    void clear() noexcept;
    /// In a block: keeps what a synth tells for the bindings that hear it, until the next block.
    void hear(const SynthEvent&) noexcept SCS_NONBLOCKING;
    /// Whether something may happen in each block.
    bool act_in_each_block() const noexcept { return in_each_block_ > 0 || listening_ > 0 || !told_.empty(); }
    /// Finishes what run() had no time for. false: there still isn't enough. Nothing else may happen before it is done.
    bool go_on() noexcept SCS_NONBLOCKING;
    const EventQueue& events() const noexcept { return events_; }
    /// Lets the bindings handle what synths told in the block before, and the events of the block that begins at
    /// `frame` of the cycle and has `block_size` frames, and begin it. `delay`: see EventQueue. false: there was no
    /// time for all of them; they stay for the next block.
    bool run(int frame, int block_size, int delay, int32_t block) noexcept SCS_NONBLOCKING;

private:
    template <class Event>
    bool carry_out(Binding&, const Event&) noexcept;
    bool handle(const ControlEvent&, const BlockStart&) noexcept;
    bool finish(Binding&) noexcept;
    bool act(Binding&, const BlockStart&, int until) noexcept;
    bool run_told(int frame) noexcept;
    void advance() noexcept;
    void set_time(int frame, int in_block) noexcept;
    void swap(std::unique_ptr<Binding>& place, std::unique_ptr<Binding>& binding) noexcept;
    void note_moved(const ControlEvent&) noexcept;
    bool begin_block(const BlockStart&) noexcept;
    bool end_block(const BlockStart&) noexcept;
    std::unique_ptr<Binding>* find(int32_t id) noexcept;

    BindingTargets targets_;
    PluginWorld& world_;
    Deadline& deadline_;
    NtpTime start_ = 0; ///< of the cycle
    double rate_ = 1;
    double seconds_ = 0; ///< at its start, since the engine's first frame
    ControlEvent last_moved_;
    bool moved_ = false;
    EventQueue events_;
    std::array<ControlEvent, most_told> by_clients_; ///< the first by_clients_count_ of them
    size_t by_clients_count_ = 0;
    TransportQueue transports_;
    std::array<std::unique_ptr<Binding>, most> bindings_; ///< the first count_ of them, in the order of their arrival
    size_t count_ = 0;
    int listening_ = 0;     ///< how many of them hear synths
    int in_each_block_ = 0; ///< how many of them act in each block
    size_t next_ = 0;       ///< which of them handles the first event next: there may not have been time for all
    SynthEventQueue told_;
    bool in_told_ = false;         ///< the first event is that of told_
    Binding* half_done_ = nullptr; ///< there was no time for all that it does for the first event …
    bool event_gone_ = false;      ///< … which has been forgotten meanwhile, or there was none: it acted by itself
};

} // namespace scs
