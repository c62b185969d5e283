// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/nonblocking.hpp"
#include "engine/control/control-event.hpp"
#include "engine/control/transport.hpp"
#include "engine/messages/synth-event.hpp"
#include "engine/rt/ntp-time.hpp"
#include "engine/world/link-timeline.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace scs {

class Buffers;
class Buses;
class Definitions;
class Outbox;
class Tree;

/// What bindings act on.
struct BindingTargets {
    Tree& tree;
    Definitions& definitions;
    Buses& buses;
    Buffers& buffers;
    Outbox& outbox;
    size_t refused = 0; ///< what couldn't be taken; bindings count up
    int32_t block = 0;  ///< the number of the block that is computed next
    NtpTime time = 0;   ///< of the event's frame, when it is heard
    double seconds = 0; ///< of the event's frame, since the engine's first
};

/// A block that is computed next.
struct BlockStart {
    double seconds; ///< of its first frame, since the engine's first
    double rate;    ///< frames a second
    int frame;      ///< of the cycle, where it begins
    int frames;     ///< how many it has
    int delay;      ///< see EventQueue
    const TransportQueue& transports;
    const LinkTimeline& link;
    NtpTime time; ///< when its first frame is heard
};

/// Which events a binding hears.
struct Source {
    int port = -1, channel = -1; ///< -1: any
    bool hears(const ControlEvent& event) const noexcept {
        return (port < 0 || event.port == port) && (channel < 0 || event.channel == channel);
    }
};

/// A part of what a client said to have a binding made.
using BindingWord = std::variant<int32_t, float, double, std::string>;

/// What events of control ports, or of synths, do. Made and deleted by other threads; the functions are [rt].
class Binding {
public:
    Binding(int32_t id, Source source) noexcept : id_(id), source_(source) {}
    virtual ~Binding() = default;
    int32_t id() const noexcept { return id_; }
    /// The command that made it, and its arguments but for the ID; to list it. Set before any other thread has it.
    std::span<const BindingWord> words() const noexcept { return words_; }
    void set_words(std::vector<BindingWord> words) noexcept { words_ = std::move(words); }
    bool hears(const ControlEvent& event) const noexcept { return source_.hears(event); }
    /// Whether packets are its events; other bindings get all events but these.
    virtual bool hears_packets() const noexcept SCS_NONBLOCKING { return false; }
    /// Whether it hears any synth.
    virtual bool hears_synths() const noexcept SCS_NONBLOCKING { return false; }
    virtual bool hears(const SynthEvent&) const noexcept SCS_NONBLOCKING { return false; }

    /// Does what an event asks for that it hears, if it is one of its own. Bounded.
    virtual void handle(const ControlEvent&, BindingTargets&) noexcept SCS_NONBLOCKING = 0;
    /// The same. The path is empty here.
    virtual void handle(const SynthEvent&, BindingTargets&) noexcept SCS_NONBLOCKING {}
    /// After handle(): does what may take long. false: there was no time for all of it; to be called again, before
    /// anything else happens.
    virtual bool go_on() noexcept SCS_NONBLOCKING { return true; }
    /// Whether begin_block() is to be called in each block.
    virtual bool in_each_block() const noexcept SCS_NONBLOCKING { return false; }
    /// A block begins. All events up to its first frame have been handled.
    virtual void begin_block(const BlockStart&, BindingTargets&) noexcept SCS_NONBLOCKING {}
    /// If in_each_block(): the frame of the block, before `until`, at which it acts next by itself, and has begun what
    /// go_on() is to carry out. -1: it doesn't. Control events that it hears and that lie before `until` have been
    /// handled. Calls that return a frame are bounded in a block.
    virtual int act(const BlockStart&, int /*until*/, BindingTargets&) noexcept SCS_NONBLOCKING { return -1; }
    /// It is about to be taken away: what it has begun ends.
    virtual void end(BindingTargets&) noexcept SCS_NONBLOCKING = 0;
    /// About how long handle() takes for an event of its own, and begin_block(), ns.
    virtual int64_t cost() const noexcept SCS_NONBLOCKING = 0;

private:
    int32_t id_;
    Source source_;
    std::vector<BindingWord> words_;
};

} // namespace scs
