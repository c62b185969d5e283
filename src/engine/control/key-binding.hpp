// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/status.hpp"
#include "engine/compile/turn-facts.hpp"
#include "engine/control/binding.hpp"
#include "engine/tree/links.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace scs {

struct Synth;

/// How keys play synths. Names of controls may be empty: then nothing is set.
struct KeySettings {
    static constexpr int most_voices = 128;
    static constexpr size_t most_values = 64;
    /// Each key has a voice of its own; or all share one, with a new synth for each key, or with one synth as long as
    /// any key is down.
    enum class Mode : uint8_t { poly, mono, legato };
    /// Which note ends when there are too many. Those whose keys are up come before all others.
    enum class Steal : uint8_t { oldest, newest };
    /// An MPE zone (M1-100-UM): its manager's channel is 0 or 15, and speaks for all others.
    enum class Zone : uint8_t { none, lower, upper };

    Source source;
    int lowest = 0, highest = 127; ///< notes
    std::string synthdef;          ///< or one of its variants
    AddAction action = AddAction::head;
    int32_t target = 0;
    std::string freq = "freq", amp = "amp", gate = "gate";
    std::string note, velocity, bend, pressure, timbre;
    int voices = 32;
    Mode mode = Mode::poly;
    Steal steal = Steal::oldest;
    Zone zone = Zone::none;
    int curve = 1;        ///< amp is the velocity to this power, 1 … 4
    float bend_range = 2; ///< semitones
    int tuning = -1;      ///< a buffer with the frequency of each note, Hz; -1: equal, A4 is 440 Hz
    std::vector<std::pair<std::string, float>> values; ///< of other controls of each synth
};

/// Notes make synths, and key up closes their gates. A synth without a gate is freed. [rt], after construction.
class KeyBinding final : public Binding {
public:
    /// [worker]
    KeyBinding(int32_t id, KeySettings);

    void handle(const ControlEvent&, BindingTargets&) noexcept override;
    void end(BindingTargets&) noexcept override;
    int64_t cost() const noexcept override;

private:
    /// A synth that a key has made.
    struct Note {
        enum class State : uint8_t { none, released, held, down };
        int32_t node = 0;
        uint8_t channel = 0, number = 0;
        State state = State::none; ///< held: by a pedal, its key is up
        bool sostenuto = false;    ///< its key was down when that pedal was pressed
        uint64_t began = 0;        ///< its place among all notes
        float bend = 0;            ///< its own, semitones
    };
    /// What a channel's controllers say.
    struct Channel {
        bool sustain = false, sostenuto = false;
        float bend = 0, pressure = 0, timbre = 0;
    };
    struct Key {
        uint8_t channel = 0, number = 0;
        float velocity = 0;
    };

    bool manages(uint8_t channel) const noexcept;
    bool reaches(uint8_t from, uint8_t to) const noexcept;
    template <class F>
    void each_synth(uint8_t channel, const BindingTargets&, F f) noexcept;

    void press(const Key&, BindingTargets&) noexcept;
    void lift(const Key&, BindingTargets&) noexcept;
    void start(const Key&, BindingTargets&) noexcept;
    bool go_back(BindingTargets&) noexcept;
    bool glide(const Key&, BindingTargets&) noexcept;
    void release(Note&, float gate, BindingTargets&) noexcept;
    void lift_note(Note&, BindingTargets&) noexcept;
    Note& room_for_note(BindingTargets&) noexcept;
    Note* sounding(const Key&, const BindingTargets&) noexcept;
    void control(const ControlEvent&, BindingTargets&) noexcept;
    void set_pedal(bool Channel::*, uint8_t channel, bool down, BindingTargets&) noexcept;
    void set_bend(uint8_t channel, float, BindingTargets&) noexcept;
    void bend_note(const ControlEvent&, float semitones, BindingTargets&) noexcept;
    void tune(const Note&, Synth&, BindingTargets&) noexcept;
    void control_note(const ControlEvent&, BindingTargets&) noexcept;
    void set_pressure(uint8_t channel, float, BindingTargets&) noexcept;
    void set_timbre(uint8_t channel, float, BindingTargets&) noexcept;
    void lift_all(uint8_t channel, bool cut, BindingTargets&) noexcept;
    void tell(const Status&, BindingTargets&) noexcept;

    void set(Synth&, const std::string& name, float value, BindingTargets&, WhenSet = WhenSet::later) const noexcept;
    void set_key(Synth&, const Key&, BindingTargets&, WhenSet) const noexcept;
    float bend(uint8_t channel) const noexcept;
    float frequency(uint8_t number, float bend, const BindingTargets&) const noexcept;
    float amplitude(float velocity) const noexcept;

    const KeySettings s_;
    std::array<Channel, 16> channels_{};
    std::vector<Note> notes_;
    std::array<Key, 16> keys_{}; ///< those that are down where keys share a voice, the last one pressed last
    size_t keys_down_ = 0;
    uint64_t begun_ = 0;
    bool told_ = false; ///< that keys make no synth
};

} // namespace scs
