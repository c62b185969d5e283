// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/engine.hpp"
#include "engine/plugins/own-rate-units.hpp"
#include "engine/plugins/ugens.hpp"
#include "engine/synthdef/own-rate.hpp"
#include "engine/synthdef/program.hpp"
#include "engine/tree/controls.hpp"

#include <cstring>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

// What the engine's tests share: an engine with SuperCollider's own plugins, driven by hand.
namespace scs::test {

/// A command made of functions.
struct Call : Command {
    explicit Call(std::function<Outcome(Engine&)> f) : on_run(std::move(f)) {}
    Outcome run(Engine& engine) noexcept override { return on_run(engine); }
    void work() noexcept override {
        if (on_work)
            on_work();
    }
    Outcome apply(Engine& engine) noexcept override { return on_apply ? on_apply(engine) : Outcome::reply; }
    std::function<Outcome(Engine&)> on_run;
    std::function<void()> on_work;
    std::function<Outcome(Engine&)> on_apply;
};

inline CommandBundle* bundle_of(std::function<void(Engine&)> f, NtpTime time = immediately) {
    auto* bundle = new CommandBundle;
    bundle->time = time;
    bundle->append(new Call([f = std::move(f)](Engine& engine) {
        f(engine);
        return Outcome::done;
    }));
    return bundle;
}

inline UnitSpec unit(const char* name, Rate rate, std::vector<InputRef> inputs, std::vector<Rate> outputs,
                     int16_t special = 0) {
    return {name, rate, special, std::move(inputs), std::move(outputs)};
}

inline Settings plugins_alone() {
    Settings settings;
    settings.native_ugens = false;
    return settings;
}

/// freq and amp: a sine on bus 0. Controls 0 and 1.
inline SynthDef sine_def() {
    SynthDef def;
    def.name = "sine";
    def.constants = {0.f};
    def.controls = {440.f, 0.5f};
    def.control_names = {{"freq", 0}, {"amp", 1}};
    def.units = {
        unit("Control", Rate::control, {}, {Rate::control, Rate::control}),
        unit("SinOsc", Rate::audio, {{0, 0}, {-1, 0}}, {Rate::audio}),
        unit("BinaryOpUGen", Rate::audio, {{1, 0}, {0, 1}}, {Rate::audio}, 2),
        unit("Out", Rate::audio, {{-1, 0}, {2, 0}}, {}),
    };
    return def;
}

/// A unit at a rate with these inputs, each a control that starts at the value, on bus 0 of its rate.
inline SynthDef unit_def(const char* name, const std::vector<float>& inputs, Rate rate = Rate::control) {
    SynthDef def;
    def.name = name;
    def.constants = {0.f};
    def.controls = inputs;
    std::vector<InputRef> refs;
    for (size_t i = 0; i < inputs.size(); ++i)
        refs.push_back({0, uint32_t(i)});
    def.units = {
        unit("Control", Rate::control, {}, std::vector<Rate>(inputs.size(), Rate::control)),
        unit(name, rate, refs, {rate}),
        unit("Out", rate, {{-1, 0}, {1, 0}}, {}),
    };
    return def;
}

/// A constant 1 on control bus 0, one added for each synth that runs before.
inline SynthDef counting_def() {
    SynthDef def;
    def.name = "count";
    def.constants = {0.f, 1.f};
    def.units = {
        unit("DC", Rate::control, {{-1, 1}}, {Rate::control}),
        unit("Out", Rate::control, {{-1, 0}, {0, 0}}, {}),
    };
    return def;
}

/// As Tree's functions, with the control that is `offset` after the first of this name; a name that isn't there has no
/// effect.
inline void set_named(Tree& tree, Synth& synth, std::string_view name, int64_t offset, float value) {
    if (const ControlRange controls = controls_named(synth, name); offset < controls.count)
        tree.controls().set(synth, controls.first + offset, value);
}
inline void map_named(Tree& tree, Synth& synth, std::string_view name, int64_t offset, int64_t bus, bool audio) {
    if (const ControlRange controls = controls_named(synth, name); offset < controls.count)
        tree.controls().map(synth, controls.first + offset, bus, audio);
}

/// Moves a node, with all the time that it takes.
inline Status move_now(Tree& tree, Node& node, AddAction action, Node& target) {
    Node* above = nullptr;
    Status status;
    if (!tree.move_in_time(node, action, target, above, status))
        throw std::runtime_error("a deadline passed");
    return status;
}

struct Fixture {
    explicit Fixture(Settings settings = {}, std::shared_ptr<SharedMemory> shared = {},
                     std::shared_ptr<HelperPool> helpers = {}) {
        auto made = Engine::create(
            settings, [](const std::string&) {}, std::move(shared), std::move(helpers));
        if (!made)
            throw std::runtime_error(made.error());
        engine = std::move(made.value());
        Engine::prepare_thread();
    }

    Definition* define(const SynthDef& def, bool mends = false) {
        const Settings& settings = engine->settings();
        auto program = compile(def, installed_ugens(), settings.block_size, settings.wire_buffers, mends);
        if (!program)
            throw std::runtime_error(program.error());
        if (asks(program.value()->own_rate))
            use_own_rate_units(*program.value());
        auto* definition = new Definition(std::move(program.value()), settings);
        Definition* replaced;
        if (engine->definitions().add(definition, replaced).failed())
            throw std::runtime_error("no room for a definition");
        delete replaced;
        return definition;
    }

    /// A synth at the end of the root group.
    Synth& play(Definition& definition, int32_t id) {
        Synth* made = nullptr;
        if (engine->tree().new_synth(definition, nullptr, id, AddAction::tail, 0, made).failed())
            throw std::runtime_error("no new synth");
        return *made;
    }

    /// Renders `frames` of output 0 after those rendered before.
    std::vector<float> render(int frames, int quantum = 64) {
        std::vector<float> all;
        while (int(all.size()) < frames) {
            std::vector<std::vector<float>> ports(size_t(engine->settings().outputs),
                                                  std::vector<float>(size_t(quantum)));
            std::vector<float*> out;
            for (auto& port : ports)
                out.push_back(port.data());
            std::vector<const float*> in(size_t(engine->settings().inputs), nullptr);
            engine->process(quantum, ntp_advance(start, position, 48000), 48000, in.data(), out.data());
            position += quantum;
            all.insert(all.end(), ports[0].begin(), ports[0].end());
            pump();
        }
        return all;
    }

    /// Does what the OSC thread and the worker do: runs jobs, frees what comes back, keeps the rest.
    void pump() {
        RecordRing& ring = engine->events();
        for (auto record = ring.peek(); !record.empty(); record = ring.peek()) {
            EventHeader header;
            std::memcpy(&header, record.data(), sizeof header);
            if (header.kind == EventKind::node) {
                nodes.emplace_back();
                std::memcpy(&nodes.back(), record.data(), sizeof(NodeEvent));
            } else if (header.kind == EventKind::trigger) {
                TriggerEvent event;
                std::memcpy(&event, record.data(), sizeof event);
                triggers.push_back({event.node, event.value, nodes.size()});
            } else if (header.kind == EventKind::late) {
                ++late;
            } else if (header.kind == EventKind::print || header.kind == EventKind::piece ||
                       header.kind == EventKind::complain || header.kind == EventKind::poll) {
                printed.append(reinterpret_cast<const char*>(record.data()) + sizeof header,
                               header.bytes - sizeof header);
            } else if (header.kind == EventKind::handback) {
                HandbackEvent event;
                std::memcpy(&event, record.data(), sizeof event);
                if (event.what == Handback::Kind::job && run_jobs) {
                    static_cast<Command*>(event.object)->work();
                    engine->finish_job(static_cast<Command*>(event.object));
                } else if (event.what == Handback::Kind::job) {
                    engine->finish_job(static_cast<Command*>(event.object));
                } else if (event.what == Handback::Kind::reply) {
                    ++replies;
                } else {
                    delete event.object;
                    ++freed;
                }
            }
            ring.pop();
        }
    }
    /// The node events since the last time: go, end, off, on, move or info, each by a letter, and the node's ID.
    std::string events() {
        pump();
        std::string text;
        for (const NodeEvent& e : nodes)
            text += std::string(text.empty() ? "" : " ") + "gefnmi"[size_t(e.change)] + std::to_string(e.id);
        nodes.clear();
        return text;
    }

    std::unique_ptr<Engine> engine;
    NtpTime start = NtpTime(1) << 32;
    int64_t position = 0;
    std::vector<NodeEvent> nodes;
    struct Trigger {
        int32_t node;
        float value;
        size_t before; ///< how many nodes' events came earlier
        bool operator==(const Trigger&) const = default;
    };
    std::vector<Trigger> triggers;
    std::string printed;
    int late = 0, replies = 0, freed = 0;
    bool run_jobs = true;
};

} // namespace scs::test
