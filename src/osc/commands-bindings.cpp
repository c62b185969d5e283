// SPDX-License-Identifier: GPL-3.0-or-later
// /bind_keys, /bind_controller, /bind_command, /bind_midi, /bind_beat, /bind_moved and /bind_free: what events of
// control ports, devices and synths do.
#include "engine/base/nonblocking.hpp"
#include "engine/control/beat-binding.hpp"
#include "engine/control/bindings.hpp"
#include "engine/control/controller-binding.hpp"
#include "engine/control/key-binding.hpp"
#include "engine/control/message-binding.hpp"
#include "engine/control/midi.hpp"
#include "engine/engine.hpp"
#include "engine/plugins/pointer-units.hpp"
#include "osc/binding-options.hpp"
#include "osc/command-binding.hpp"
#include "osc/command-table.hpp"
#include "osc/node-args.hpp"
#include "osc/packet-binding.hpp"
#include "osc/server-settings.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace scs::osc {

namespace {

constexpr int64_t free_cost = 10'000; ///< ns, an estimate for the deadline: up to 128 notes end

/// Makes a binding, and gives it to the engine in a block.
class Bind : public OscCommand {
public:
    using OscCommand::OscCommand;

    Outcome run(Engine& engine) noexcept final {
        if (failed())
            return Outcome::reply;
        if (!rejection().ok())
            return ended(rejection(), engine);
        if (!engine.bindings().put(binding_))
            return ended(fail("there are too many bindings"), engine);
        if (needs_pointer_)
            ask_for_pointer(engine.world());
        return ended({}, engine);
    }

protected:
    /// Of a binding T, unless there is a mistake.
    template <class T, class Settings>
    void make(int32_t id, Settings&& settings, const std::string& mistake) {
        std::unique_ptr<Binding> binding;
        if (mistake.empty())
            binding = std::make_unique<T>(id, std::forward<Settings>(settings));
        take(std::move(binding), mistake);
    }
    /// The same with a binding that is made.
    void take(std::unique_ptr<Binding> binding, const std::string& mistake) {
        if (!mistake.empty())
            set_failure(mistake);
        else if (binding->id() == packet_binding_id)
            set_failure("this ID is the server's own");
        else
            keep(std::move(binding));
    }

    /// Whether it is the pointer's button that has such events, of the code `number` or any.
    void look_for_pointer(ControlEvent::Kind kind, const Source& source, int number) {
        needs_pointer_ = kind == ControlEvent::Kind::button && source.port <= ControlEvent::pointer &&
                         (number < 0 || number == ControlEvent::first_button);
    }

private:
    void keep(std::unique_ptr<Binding> binding) {
        const std::span<const Arg> sent = message().args;
        binding->set_words(words_of(name(), sent.subspan(std::min<size_t>(sent.size(), 1)))); // after the ID
        binding_ = std::move(binding);
    }

    std::unique_ptr<Binding> binding_; ///< later the one that it has replaced
    bool needs_pointer_ = false;
};

class BindKeys final : public Bind {
public:
    explicit BindKeys(CommandInit&& init) : Bind(std::move(init)) {
        ArgReader args = this->args();
        const int32_t id = args.get_int();
        KeySettings s;
        s.synthdef = args.get_string();
        const bool placed = !args.at_string(); // else options are next
        const int32_t action = placed ? args.get_int() : int32_t(s.action);
        const bool aimed = placed && !args.at_string();
        s.target = aimed ? args.get_int() : s.target;
        std::string mistake = read_key_options(args, s);
        s.action = AddAction(action);
        if (s.synthdef.empty())
            mistake = "a SynthDef's name is missing";
        else if (s.synthdef.size() > Definitions::longest_name)
            mistake = "the SynthDef's name is too long";
        else if (!valid_add_action(action) || s.action == AddAction::replace)
            mistake = "the add action is to be 0 to 3";
        else if (placed && !aimed)
            mistake = "the add action's target is missing";
        make<KeyBinding>(id, std::move(s), mistake);
    }
};

/// The name of a control bus. Returns what is wrong; empty if nothing is.
std::string read_bus(ArgReader& args, int& to) {
    const BusText bus = args.at_string() ? parse_bus(args.get_string()) : BusText();
    to = bus.bus;
    return bus.valid && !bus.audio && bus.bus >= 0 ? "" : "a control bus is named as in c5";
}

/// 0 to `last`; -1: it is none of these.
int read_number(std::string_view digits, int last) {
    const char* const end = digits.data() + digits.size();
    int value = -1;
    const auto read = std::from_chars(digits.data(), end, value);
    return read.ptr == end && read.ec == std::errc() && value >= 0 && value <= last ? value : -1;
}

/// What follows "fine", "rpn" and "nrpn".
std::string read_fine(std::string_view number, FineController::Kind kind, int last, ControllerSettings& s) {
    const int value = read_number(number, last);
    if (value < 0)
        return "controllers of 14 bits are fine0 to fine31, rpn0 to rpn16382 and nrpn0 to nrpn16382";
    s.fine.emplace(kind, value);
    return "";
}

/// A controller's number, or a word.
std::string read_controller(ArgReader& args, ControllerSettings& s) {
    using Kind = ControlEvent::Kind;
    if (!args.at_string()) {
        s.number = args.get_int();
        return s.number >= -1 && s.number < 128 ? "" : "a controller is -1 to 127";
    }
    const std::string_view word = args.get_string();
    using Fine = FineController::Kind;
    for (const auto& [name, kind, last] :
         {std::tuple{"fine", Fine::pair, 31}, {"rpn", Fine::rpn, 16382}, {"nrpn", Fine::nrpn, 16382}})
        if (word.starts_with(name))
            return read_fine(word.substr(std::strlen(name)), kind, last, s);
    for (const Kind kind : {Kind::axis, Kind::button})
        if (const std::string_view name = name_of(kind); word.starts_with(name)) {
            s.kind = kind;
            s.number = read_number(word.substr(name.size()), ControlEvent::last_code);
            return s.number >= 0 ? "" : "axes and buttons are axis0 to axis767 and button0 to button767";
        }
    s.kind = word == "bend" ? Kind::bend : word == "pressure" ? Kind::pressure : Kind::program;
    if (s.kind == Kind::program && word != "program")
        return "a controller is a number, bend, pressure, program, or as in fine7, rpn2, nrpn300, axis0, button304";
    return "";
}

class BindController final : public Bind {
public:
    explicit BindController(CommandInit&& init) : Bind(std::move(init)) {
        ArgReader args = this->args();
        const int32_t id = args.get_int();
        ControllerSettings s;
        std::string mistake = read_controller(args, s);
        if (args.at_string()) {
            if (const std::string wrong = read_bus(args, s.bus); !wrong.empty())
                mistake = wrong;
        } else {
            s.node = args.get_int();
            const ControlArg control = read_control(args);
            s.control = control.name.substr(0, longest_control);
            s.index = int(control.index);
        }
        BindingOptions options(args);
        options.each([&](std::string_view key) { return read_option(s, key, options); });
        if (mistake.empty())
            mistake = options.mistake();
        if (s.exponential && !(s.low * s.high > 0))
            mistake = "an exponential range has no 0 in it";
        look_for_pointer(s.kind, s.source, s.number);
        make<ControllerBinding>(id, std::move(s), mistake);
    }

private:
    static bool read_option(ControllerSettings& s, std::string_view key, BindingOptions& options) {
        const bool device = ControlEvent{.kind = s.kind}.of_device();
        if (device ? options.read_device(s.source, key) : options.read_source(s.source, key))
            return true;
        if (key == "low")
            options.read(s.low);
        else if (key == "high")
            options.read(s.high);
        else if (key == "curve")
            options.read(s.exponential, {"linear", "exponential"});
        else
            return false;
        return true;
    }
};

/// An option that beats of MIDI clock or Link have. false: it isn't one.
bool read_clock_option(BeatOrigin& from, std::string_view key, BindingOptions& options) {
    if (from.of == BeatSource::midi && key == "port")
        options.read_source(from.source, key);
    else if (from.of != BeatSource::transport && key == "beats-per-bar")
        options.read(from.beats_per_bar, 1, 64);
    else
        return false;
    return true;
}

class BindCommand final : public Bind {
public:
    explicit BindCommand(CommandInit&& init) : Bind(std::move(init)) {
        ArgReader args = this->args();
        const int32_t id = args.get_int();
        CommandSource source;
        std::string mistake = read_kind(args, source);
        BindingOptions options = BindingOptions::before_command(args);
        options.each([&](std::string_view key) { return read_option(source, key, options); });
        if (mistake.empty())
            mistake = options.mistake();
        if (mistake.empty() && source.kind == CommandSource::Kind::reply && source.path.empty())
            mistake = "a reply's path is missing";
        if (source.kind == CommandSource::Kind::event)
            look_for_pointer(source.event, source.source, source.number);
        std::unique_ptr<Binding> binding;
        if (mistake.empty())
            binding = std::make_unique<CommandBinding>(id, std::move(source), services(), options.rest(), mistake);
        take(std::move(binding), mistake);
    }

private:
    static std::string read_kind(ArgReader& args, CommandSource& source) {
        const std::string_view word = args.at_string() ? args.get_string() : std::string_view();
        for (int kind = 0; kind < int(ControlEvent::Kind::packet); ++kind)
            if (word == name_of(ControlEvent::Kind(kind))) {
                source.kind = CommandSource::Kind::event;
                source.event = ControlEvent::Kind(kind);
                return "";
            }
        using Kind = CommandSource::Kind;
        source.kind = word == "reply" ? Kind::reply : word == "beat" ? Kind::beat : Kind::trigger;
        if (word == "reply" || word == "trigger" || word == "beat")
            return "";
        return "a source is trigger, reply, noteOn, noteOff, polytouch, control, program, touch, bend, rpn, nrpn, "
               "noteBend, noteControl, midiClock, start, continue, stop, songPosition, axis, button or beat";
    }

    static bool read_event_option(CommandSource& source, std::string_view key, BindingOptions& options) {
        using Kind = ControlEvent::Kind;
        const bool channel = source.event < Kind::clock;
        if (ControlEvent{.kind = source.event}.of_device()) {
            if (key != "number")
                return options.read_device(source.source, key);
            options.read(source.number, -1, ControlEvent::last_code);
            return true;
        }
        if (key == "number" && channel && source.event != Kind::pressure && source.event != Kind::bend) {
            const bool parameter = source.event == Kind::parameter || source.event == Kind::own_parameter;
            options.read(source.number, -1, parameter ? 16383 : 127);
            return true;
        }
        return (channel || key == "port") && options.read_source(source.source, key);
    }

    static bool read_beat_option(CommandSource& source, std::string_view key, BindingOptions& options) {
        if (key == "of")
            options.read(source.beats.of, {"transport", "midi", "link"});
        else if (key == "division")
            options.read_beats(source.division, BeatDivision::smallest, BeatDivision::largest);
        else if (key == "offset")
            options.read_beats(source.offset, -BeatDivision::largest, BeatDivision::largest);
        else
            return read_clock_option(source.beats, key, options);
        return true;
    }

    static bool read_option(CommandSource& source, std::string_view key, BindingOptions& options) {
        using Kind = CommandSource::Kind;
        constexpr int most = std::numeric_limits<int32_t>::max();
        if (source.kind == Kind::event)
            return read_event_option(source, key, options);
        if (source.kind == Kind::beat)
            return read_beat_option(source, key, options);
        if (key == "id")
            options.read(source.id, -1, most);
        else if (key == "node")
            options.read(source.node, -1, most);
        else if (key == "path" && source.kind == Kind::reply)
            options.read(source.path);
        else
            return false;
        return true;
    }
};

class BindMessages final : public Bind {
public:
    explicit BindMessages(CommandInit&& init) : Bind(std::move(init)) {
        ArgReader args = this->args();
        const int32_t id = args.get_int();
        Source source;
        BindingOptions options(args);
        options.each([&](std::string_view key) { return options.read_source(source, key); });
        make<MessageBinding>(id, source, options.mistake());
    }
};

class BindBeat final : public Bind {
public:
    explicit BindBeat(CommandInit&& init) : Bind(std::move(init)) {
        ArgReader args = this->args();
        const int32_t id = args.get_int();
        const std::string_view from = args.at_string() ? args.get_string() : std::string_view();
        BeatSettings s;
        s.from.of = from == "midi" ? BeatSource::midi : from == "link" ? BeatSource::link : BeatSource::transport;
        const std::string wrong_bus = read_bus(args, s.bus);
        BindingOptions options(args);
        options.each([&](std::string_view key) { return read_clock_option(s.from, key, options); });
        std::string mistake = options.mistake();
        if (from != "transport" && from != "midi" && from != "link")
            mistake = "the source is to be transport, midi or link";
        else if (!wrong_bus.empty())
            mistake = wrong_bus;
        else if (s.bus > services().settings.engine.control_buses - BeatBinding::buses)
            mistake = "there are no four control buses from that one on";
        make<BeatBinding>(id, s, mistake);
    }
};

/// Keeps what it takes out, for the thread that deletes the command.
class FreeBindings final : public OscCommand {
public:
    explicit FreeBindings(CommandInit&& init) : OscCommand(std::move(init)) {
        taken_.reserve(std::min(message().args.size(), Bindings::most));
        place().args = args();
    }

    Outcome run(Engine& engine) noexcept override {
        const Status status = rejection().ok() ? take_next(engine) : rejection();
        return goes_on() ? Outcome::again : ended(status, engine);
    }

private:
    Status take_next(Engine& engine) noexcept SCS_NONBLOCKING {
        ArgReader& args = place().args;
        while (args.remain() >= 4) {
            if (engine.out_of_time(free_cost))
                return unfinished();
            const int32_t id = args.get_int();
            SCS_UNPROVEN_BEGIN // nothing is deleted: a binding moves into a list that has room
            std::unique_ptr<Binding> binding;
            if (id != packet_binding_id)
                binding = engine.bindings().take(id);
            if (!binding)
                return fail("there is no such binding");
            taken_.push_back(std::move(binding));
            SCS_UNPROVEN_END
        }
        return {};
    }

    std::vector<std::unique_ptr<Binding>> taken_;
};

/// For "MIDI learn": what moved last.
Status tell_moved(OscCommand& command, Engine& engine) noexcept SCS_NONBLOCKING {
    const ControlEvent* const moved = engine.bindings().last_moved();
    if (!moved)
        return command.fail("nothing has moved yet");
    ReplyWriter& reply = command.reply();
    reply.begin("/bind_moved.reply");
    reply.add(name_of(moved->kind));
    for (const int32_t value : {int32_t(moved->port), int32_t(moved->channel), int32_t(moved->number)})
        reply.add(value);
    reply.add(moved->value);
    return {};
}

size_t moved_room(ArgReader) noexcept {
    return reply_bytes(1, 5, 16);
}

constexpr CommandSpec commands[] = {
    {.name = "/bind_keys", .make = make_command<BindKeys>},
    {.name = "/bind_controller", .make = make_command<BindController>},
    {.name = "/bind_command", .make = make_command<BindCommand>},
    {.name = "/bind_midi", .make = make_command<BindMessages>},
    {.name = "/bind_beat", .make = make_command<BindBeat>},
    {.name = "/bind_moved", .handler = tell_moved, .reply_room = moved_room},
    {.name = "/bind_free", .make = make_command<FreeBindings>},
};

} // namespace

std::span<const CommandSpec> binding_commands() {
    return commands;
}

} // namespace scs::osc
