// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/control/key-binding.hpp"

#include "engine/base/text-line.hpp"
#include "engine/definitions/definitions.hpp"
#include "engine/messages/outbox.hpp"
#include "engine/tree/controls.hpp"
#include "engine/tree/tree.hpp"
#include "engine/world/buffers.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace scs {

namespace {

using Kind = ControlEvent::Kind;

// Controllers of MIDI 1.0 (RP-017 and before).
constexpr uint8_t sustain = 64, sostenuto = 66, brightness = 74, all_sound_off = 120, reset_all = 121,
                  all_notes_off = 123;
/// An envelope ends within -1 - gate seconds of such a gate (EnvGen, Linen).
constexpr float cut_gate = -1.005f;
constexpr uint8_t a4 = 69; ///< its note

} // namespace

KeyBinding::KeyBinding(int32_t id, KeySettings settings)
    : Binding(id, settings.source),
      s_(std::move(settings)),
      notes_(size_t(s_.mode == KeySettings::Mode::poly ? s_.voices : 1)) {}

// ---- who is meant

/// Whether the channel speaks for all others.
bool KeyBinding::manages(uint8_t channel) const noexcept {
    return (s_.zone == KeySettings::Zone::lower && channel == 0) ||
           (s_.zone == KeySettings::Zone::upper && channel == 15);
}

/// Whether what comes on channel `from` is for notes of channel `to`.
bool KeyBinding::reaches(uint8_t from, uint8_t to) const noexcept {
    return to == from || manages(from);
}

/// Calls `f` with the synth of each note that the channel's controllers reach.
template <class F>
void KeyBinding::each_synth(uint8_t channel, const BindingTargets& targets, F f) noexcept {
    for (Note& note : notes_)
        if (note.state != Note::State::none && reaches(channel, note.channel))
            if (Synth* const synth = targets.tree.find_synth(note.node))
                f(note, *synth);
}

KeyBinding::Note* KeyBinding::sounding(const Key& key, const BindingTargets& targets) noexcept {
    for (Note& note : notes_)
        if (note.state >= Note::State::held && note.channel == key.channel && note.number == key.number &&
            targets.tree.find_synth(note.node))
            return &note;
    return nullptr;
}

/// A note that has ended, or one that does so now.
KeyBinding::Note& KeyBinding::room_for_note(BindingTargets& targets) noexcept {
    Note* worst = nullptr;
    for (Note& note : notes_) {
        if (note.state == Note::State::none || !targets.tree.find_synth(note.node))
            return note;
        const bool newest = note.state == Note::State::down && s_.steal == KeySettings::Steal::newest;
        if (!worst || note.state < worst->state ||
            (note.state == worst->state && (newest ? note.began > worst->began : note.began < worst->began)))
            worst = &note;
    }
    release(*worst, cut_gate, targets);
    return *worst;
}

// ---- values

float KeyBinding::amplitude(float velocity) const noexcept {
    float amp = velocity;
    for (int i = 1; i < s_.curve; ++i)
        amp *= velocity;
    return amp;
}

/// Semitones by which the channel, and the one that manages it, bends.
float KeyBinding::bend(uint8_t channel) const noexcept {
    constexpr float manager_range = 2; // M1-100-UM
    const float own = channels_[channel].bend * s_.bend_range;
    if (s_.zone == KeySettings::Zone::none || manages(channel))
        return own;
    return own + manager_range * channels_[s_.zone == KeySettings::Zone::lower ? 0 : 15].bend;
}

/// Hz. The tuning's if its buffer is there, and has the note.
float KeyBinding::frequency(uint8_t number, float bend, const BindingTargets& targets) const noexcept {
    const auto ratio = [](float semitones) { return std::exp2(double(semitones) / 12.0); };
    if (targets.buffers.in_range(s_.tuning))
        if (const Buffer buffer = targets.buffers.get(s_.tuning); buffer.data && number < buffer.samples())
            return bend == 0 ? buffer.data[number] : float(buffer.data[number] * ratio(bend));
    return float(440.0 * ratio(float(number) - float(a4) + bend));
}

void KeyBinding::set(Synth& synth, const std::string& name, float value, BindingTargets& targets,
                     WhenSet when) const noexcept {
    if (name.empty())
        return;
    if (const ControlRange controls = controls_named(synth, name); controls.count > 0)
        targets.tree.controls().set(synth, controls.first, value, when);
}

void KeyBinding::set_key(Synth& synth, const Key& key, BindingTargets& targets, WhenSet when) const noexcept {
    const Channel& channel = channels_[key.channel];
    // A synth that bends by itself gets the frequency of the key.
    const float semitones = bend(key.channel);
    set(synth, s_.freq, frequency(key.number, s_.bend.empty() ? semitones : 0, targets), targets, when);
    set(synth, s_.amp, amplitude(key.velocity), targets, when);
    set(synth, s_.note, key.number, targets, when);
    set(synth, s_.velocity, key.velocity, targets, when);
    set(synth, s_.bend, semitones, targets, when);
    set(synth, s_.pressure, channel.pressure, targets, when);
    set(synth, s_.timbre, channel.timbre, targets, when);
}

// ---- keys

/// Says once why keys make no synth.
void KeyBinding::tell(const Status& status, BindingTargets& targets) noexcept {
    if (std::exchange(told_, status.failed()) || status.ok())
        return;
    TextLine line;
    if (status.code == Code::synthdef_not_found)
        line.add("binding %d: SynthDef %.200s not found\n", id(), s_.synthdef.c_str());
    else if (status.code == Code::group_not_found || status.code == Code::node_not_found)
        line.add("binding %d: node %d not found\n", id(), s_.target);
    else
        line.add("binding %d: there is no room for more synths\n", id());
    targets.outbox.complain(line.take());
}

void KeyBinding::start(const Key& key, BindingTargets& targets) noexcept {
    const Definitions::Found found = targets.definitions.find_variant(s_.synthdef);
    if (!found.definition)
        return tell({Code::synthdef_not_found}, targets);
    Note& note = room_for_note(targets);
    Synth* synth = nullptr;
    const Status status = targets.tree.new_synth(*found.definition, found.values, -1, s_.action, s_.target, synth);
    tell(status, targets);
    if (status.failed())
        return;
    note = {synth->id, key.channel, key.number, Note::State::down, false, ++begun_, 0};
    for (const auto& [name, value] : s_.values)
        set(*synth, name, value, targets, WhenSet::at_start);
    set_key(*synth, key, targets, WhenSet::at_start);
}

/// Where keys share a synth: moves the one that sounds to the key. false: none does.
bool KeyBinding::glide(const Key& key, BindingTargets& targets) noexcept {
    Note& note = notes_.front();
    Synth* const synth = note.state == Note::State::down ? targets.tree.find_synth(note.node) : nullptr;
    if (s_.mode != KeySettings::Mode::legato || !synth)
        return false;
    note.channel = key.channel;
    note.number = key.number;
    note.bend = 0;
    set_key(*synth, key, targets, WhenSet::later);
    return true;
}

void KeyBinding::press(const Key& key, BindingTargets& targets) noexcept {
    if (s_.mode == KeySettings::Mode::poly) {
        if (Note* const same = sounding(key, targets))
            release(*same, 0, targets);
        return start(key, targets);
    }
    lift(key, targets); // pressed twice
    if (keys_down_ == keys_.size()) {
        std::move(keys_.begin() + 1, keys_.end(), keys_.begin());
        --keys_down_;
    }
    keys_[keys_down_++] = key;
    if (!glide(key, targets))
        start(key, targets);
}

void KeyBinding::lift(const Key& key, BindingTargets& targets) noexcept {
    if (s_.mode == KeySettings::Mode::poly) {
        if (Note* const note = sounding(key, targets); note && note->state == Note::State::down)
            lift_note(*note, targets);
        return;
    }
    const auto end = keys_.begin() + keys_down_;
    const auto at = std::find_if(
        keys_.begin(), end, [&](const Key& each) { return each.channel == key.channel && each.number == key.number; });
    if (at == end)
        return;
    const bool last = at + 1 == end;
    std::move(at + 1, end, at);
    --keys_down_;
    if (!last)
        return;
    if (!go_back(targets) && notes_.front().state == Note::State::down)
        lift_note(notes_.front(), targets);
}

/// Where keys share a synth and the one that sounded is up, the last one that is down sounds. false: none is.
bool KeyBinding::go_back(BindingTargets& targets) noexcept {
    if (keys_down_ == 0)
        return false;
    const Key& before = keys_[keys_down_ - 1];
    if (!glide(before, targets))
        start(before, targets);
    return true;
}

/// A pedal may hold it.
void KeyBinding::lift_note(Note& note, BindingTargets& targets) noexcept {
    const auto holds = [&](const Channel& channel) { return channel.sustain || (channel.sostenuto && note.sostenuto); };
    bool held = holds(channels_[note.channel]);
    if (s_.zone != KeySettings::Zone::none)
        held |= holds(channels_[s_.zone == KeySettings::Zone::lower ? 0 : 15]);
    if (held)
        note.state = Note::State::held;
    else
        release(note, 0, targets);
}

void KeyBinding::release(Note& note, float gate, BindingTargets& targets) noexcept {
    note.state = Note::State::released;
    Synth* const synth = targets.tree.find_synth(note.node);
    if (!synth)
        return;
    if (s_.gate.empty() || controls_named(*synth, s_.gate).count == 0)
        targets.tree.free(*synth);
    else
        set(*synth, s_.gate, gate, targets);
}

// ---- controllers

void KeyBinding::set_pedal(bool Channel::*pedal, uint8_t channel, bool down, BindingTargets& targets) noexcept {
    if (std::exchange(channels_[channel].*pedal, down) == down)
        return;
    for (Note& note : notes_) {
        if (!reaches(channel, note.channel))
            continue;
        if (pedal == &Channel::sostenuto)
            note.sostenuto = down && note.state == Note::State::down;
        if (!down && note.state == Note::State::held)
            lift_note(note, targets);
    }
}

void KeyBinding::set_bend(uint8_t channel, float value, BindingTargets& targets) noexcept {
    channels_[channel].bend = value;
    each_synth(channel, targets, [&](const Note& note, Synth& synth) { tune(note, synth, targets); });
}

/// Sets what its bends make of the note.
void KeyBinding::tune(const Note& note, Synth& synth, BindingTargets& targets) noexcept {
    const float semitones = bend(note.channel) + note.bend;
    set(synth, s_.bend, semitones, targets);
    if (s_.bend.empty())
        set(synth, s_.freq, frequency(note.number, semitones, targets), targets);
}

void KeyBinding::bend_note(const ControlEvent& event, float semitones, BindingTargets& targets) noexcept {
    each_synth(event.channel, targets, [&](Note& note, Synth& synth) {
        if (note.number != event.number)
            return;
        note.bend = semitones;
        tune(note, synth, targets);
    });
}

void KeyBinding::set_pressure(uint8_t channel, float value, BindingTargets& targets) noexcept {
    channels_[channel].pressure = value;
    each_synth(channel, targets, [&](const Note&, Synth& synth) { set(synth, s_.pressure, value, targets); });
}

void KeyBinding::set_timbre(uint8_t channel, float value, BindingTargets& targets) noexcept {
    channels_[channel].timbre = value;
    each_synth(channel, targets, [&](const Note&, Synth& synth) { set(synth, s_.timbre, value, targets); });
}

void KeyBinding::lift_all(uint8_t channel, bool cut, BindingTargets& targets) noexcept {
    const bool sounded = keys_down_ > 0 && reaches(channel, keys_[keys_down_ - 1].channel);
    const auto lifted = std::remove_if(keys_.begin(), keys_.begin() + keys_down_,
                                       [&](const Key& key) { return reaches(channel, key.channel); });
    keys_down_ = size_t(lifted - keys_.begin());
    if (sounded && !cut && go_back(targets))
        return;
    for (Note& note : notes_) {
        if (note.state == Note::State::none || !reaches(channel, note.channel))
            continue;
        if (cut)
            release(note, cut_gate, targets);
        else if (note.state == Note::State::down)
            lift_note(note, targets);
    }
}

/// Registered controllers of a note (M2-104-UM).
void KeyBinding::control_note(const ControlEvent& event, BindingTargets& targets) noexcept {
    constexpr uint8_t pitch = 3; // semitones, in fixed point: 7 bits before the point, 25 after it
    if (event.controller == pitch)
        return bend_note(event, event.value * 128.f - float(event.number), targets);
    if (event.controller == brightness)
        each_synth(event.channel, targets, [&](const Note& note, Synth& synth) {
            if (note.number == event.number)
                set(synth, s_.timbre, event.value, targets);
        });
}

void KeyBinding::control(const ControlEvent& event, BindingTargets& targets) noexcept {
    const uint8_t channel = event.channel;
    const bool down = event.value >= 64 / 127.f;
    switch (event.number) {
    case sustain: return set_pedal(&Channel::sustain, channel, down, targets);
    case sostenuto: return set_pedal(&Channel::sostenuto, channel, down, targets);
    case brightness: return set_timbre(channel, event.value, targets);
    case all_sound_off: return lift_all(channel, true, targets);
    case reset_all:
        set_pedal(&Channel::sustain, channel, false, targets);
        set_pedal(&Channel::sostenuto, channel, false, targets);
        set_bend(channel, 0, targets);
        set_pressure(channel, 0, targets);
        return;
    default:
        if (event.number >= all_notes_off)
            lift_all(channel, false, targets);
    }
}

void KeyBinding::handle(const ControlEvent& event, BindingTargets& targets) noexcept {
    constexpr float note_bend_range = 48; // semitones, as of a note's channel in MPE
    const Key key{event.channel, uint8_t(event.number), event.value};
    switch (event.kind) {
    case Kind::note_on:
        if (event.number >= s_.lowest && event.number <= s_.highest)
            press(key, targets);
        return;
    case Kind::note_off: return lift(key, targets);
    case Kind::note_pressure:
        each_synth(event.channel, targets, [&](const Note& note, Synth& synth) {
            if (note.number == event.number)
                set(synth, s_.pressure, event.value, targets);
        });
        return;
    case Kind::pressure: return set_pressure(event.channel, event.value, targets);
    case Kind::bend: return set_bend(event.channel, event.value, targets);
    case Kind::controller: return control(event, targets);
    case Kind::note_bend: return bend_note(event, event.value * note_bend_range, targets);
    case Kind::note_controller: return control_note(event, targets);
    default: return;
    }
}

int64_t KeyBinding::cost() const noexcept {
    constexpr int64_t synth_cost = 1000, set_cost = 60;
    return synth_cost + set_cost * int64_t(notes_.size() + s_.values.size());
}

void KeyBinding::end(BindingTargets& targets) noexcept {
    for (Note& note : notes_)
        if (note.state >= Note::State::held)
            release(note, 0, targets);
}

} // namespace scs
