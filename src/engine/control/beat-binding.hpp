// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/control/binding.hpp"
#include "engine/control/midi-clock.hpp"

#include <cstdint>

namespace scs {

/// What a beat binding's control buses get in each block, as it is at the block's first frame: the beat in its bar, the
/// tempo in beats a second, 1 while it plays, the bar. Beat and bar together are exact where a float of all beats
/// wouldn't be.
struct Beats {
    static constexpr int buses = 4; ///< one after the other
    bool playing = false;
    double beat = 0, tempo = 0;
    double beats_per_bar = 0; ///< 0: beat and bar are 0
};

/// Where beats come from, and go.
struct BeatSettings {
    Source source;         ///< of MIDI clock
    int bus = 0;           ///< the first one
    int beats_per_bar = 4; ///< for MIDI clock and Link, which know no bars
};

/// Sets control buses to beats. [rt], after construction.
class BeatBinding : public Binding {
public:
    /// [worker]
    BeatBinding(int32_t id, const BeatSettings& settings) noexcept : Binding(id, settings.source), s_(settings) {}

    void handle(const ControlEvent&, BindingTargets&) noexcept override {}
    void end(BindingTargets&) noexcept override {}
    int64_t cost() const noexcept override { return 50; }
    bool in_each_block() const noexcept override { return true; }
    void begin_block(const BlockStart&, BindingTargets&) noexcept override;

protected:
    const BeatSettings s_;

private:
    virtual Beats beats(const BlockStart&) noexcept = 0;
};

/// Those of the graph's transport.
class TransportBinding final : public BeatBinding {
public:
    using BeatBinding::BeatBinding;

private:
    Beats beats(const BlockStart&) noexcept override;
};

/// Those of a session of Ableton Link.
class LinkBinding final : public BeatBinding {
public:
    using BeatBinding::BeatBinding;

private:
    Beats beats(const BlockStart&) noexcept override;
};

/// Those of MIDI clock.
class ClockBinding final : public BeatBinding {
public:
    using BeatBinding::BeatBinding;

    void handle(const ControlEvent&, BindingTargets&) noexcept override;

private:
    Beats beats(const BlockStart&) noexcept override;

    MidiClock clock_;
};

} // namespace scs
