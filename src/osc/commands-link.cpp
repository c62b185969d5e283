// SPDX-License-Identifier: GPL-3.0-or-later
// /link tells of an Ableton Link session, /link_set asks something of it.
#include "engine/base/nonblocking.hpp"
#include "engine/engine.hpp"
#include "engine/messages/outbox.hpp"
#include "osc/command-table.hpp"
#include "osc/reply-to.hpp"

#include <cmath>
#include <limits>
#include <string_view>

namespace scs::osc {

namespace {

constexpr double most_beats = 1e12, longest_time = 0x1p32; // beats; s since 1900
constexpr double none = std::numeric_limits<double>::quiet_NaN();

bool within(double value, double low, double high) noexcept {
    return value >= low && value <= high; // NaN isn't
}

bool is_tempo(double tempo) noexcept {
    constexpr double rounding = 1e-6; // of a float
    return within(tempo, LinkTimeline::slowest * (1 - rounding), LinkTimeline::fastest * (1 + rounding));
}

/// time, beat, tempo, playing, since; or nothing at all
Status link(OscCommand& command, Engine& engine) noexcept SCS_NONBLOCKING {
    ArgReader args = command.args();
    LinkTimeline& known = engine.world().link();
    if (args.tag() == 0) {
        known = known.followed_by({});
        return {};
    }
    const double time = args.get_double(none), beat = args.get_double(none), tempo = args.get_double(none);
    const int32_t playing = args.get_int(-1);
    const double since = args.get_double(none);
    if (!within(time, 1, longest_time - 1) || !within(since, 0, longest_time - 1))
        return command.fail("a time is to be seconds since 1900");
    if (!within(beat, -most_beats, most_beats))
        return command.fail("the beat is to be a number");
    if (!is_tempo(tempo))
        return command.fail("the tempo is to be 20 to 999 beats a minute, in beats a second");
    if (playing != 0 && playing != 1)
        return command.fail("playing is to be 0 or 1");
    known = known.followed_by({.time = ntp_from_seconds(time),
                               .beat = beat,
                               .tempo = tempo,
                               .playing = playing == 1,
                               .since = ntp_from_seconds(since),
                               .client = to_reply_to(command.from(), command.services().outlet)});
    return {};
}

/// "tempo" beats a second, "playing" 0 or 1, "jump" or "force" beat quantum
Status link_set(OscCommand& command, Engine& engine) noexcept SCS_NONBLOCKING {
    using What = LinkEvent::What;
    ArgReader args = command.args();
    const std::string_view word = args.get_string();
    const double value = args.get_double(none), quantum = args.get_double(4);
    LinkEvent event{{EventKind::link, sizeof event},
                    What::tempo,
                    engine.world().link().client,
                    value,
                    quantum,
                    engine.world().time()};
    if (word == "tempo") {
        if (!is_tempo(value))
            return command.fail("the tempo is to be 20 to 999 beats a minute, in beats a second");
    } else if (word == "playing") {
        event.what = What::playing;
        if (value != 0 && value != 1)
            return command.fail("playing is to be 0 or 1");
    } else if (word == "jump" || word == "force") {
        event.what = word == "jump" ? What::jump : What::force;
        if (!within(value, -most_beats, most_beats) || !within(quantum, 1e-3, most_beats))
            return command.fail("a beat and a quantum above 0 are missing");
    } else {
        return command.fail("what is set is tempo, playing, jump or force");
    }
    if (!engine.world().link().joined())
        return command.fail("pw-scsynth link doesn't run");
    (void)engine.outbox().notify(event);
    return {};
}

constexpr CommandSpec commands[] = {
    {.name = "/link", .handler = link},
    {.name = "/link_set", .types = "si", .handler = link_set},
};

} // namespace

std::span<const CommandSpec> link_commands() {
    return commands;
}

} // namespace scs::osc
