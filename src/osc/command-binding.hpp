// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/control/beats.hpp"
#include "engine/control/binding.hpp"
#include "osc/repeated-command.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace scs::osc {

/// What a command is bound to.
struct CommandSource {
    /// What SendTrig or SendReply tells, what comes to control ports or from devices, or multiples of a division of
    /// beats.
    enum class Kind : uint8_t { trigger, reply, event, beat };
    Kind kind = Kind::trigger;
    int32_t id = -1;   ///< of a trigger or reply; -1: any
    std::string path;  ///< of a reply
    int32_t node = -1; ///< that tells it; -1: any
    ControlEvent::Kind event = ControlEvent::Kind::note_on;
    int number = -1; ///< of a key, controller, axis or button; -1: any
    Source source;
    BeatOrigin beats;
    double division = 1, offset = 0; ///< beats
};

/// A command that is carried out whenever its source has something to say, with values of the source in place of words
/// that begin with $. [rt], after construction.
class CommandBinding final : public Binding {
public:
    static constexpr size_t most_values = 64;
    static constexpr size_t most_arguments = 1024; ///< the command among them
    static constexpr size_t most_bytes = 65536;    ///< of strings

    /// [osc] The first of `args` is the command's address, a row with `bindable`. `mistake`: what is wrong, empty if
    /// nothing is; then there must be no call of any other function.
    CommandBinding(int32_t id, CommandSource, Services&, std::span<const Arg> args, std::string& mistake);

    bool hears_synths() const noexcept override {
        return s_.kind == CommandSource::Kind::trigger || s_.kind == CommandSource::Kind::reply;
    }
    bool in_each_block() const noexcept override { return s_.kind == CommandSource::Kind::beat; }
    int act(const BlockStart&, int until, BindingTargets&) noexcept override;
    using Binding::hears;
    bool hears(const SynthEvent&) const noexcept override;
    void handle(const ControlEvent&, BindingTargets&) noexcept override;
    void handle(const SynthEvent&, BindingTargets&) noexcept override;
    bool go_on() noexcept override;
    void end(BindingTargets&) noexcept override {}
    int64_t cost() const noexcept override { return 1000; }

private:
    /// Where a value goes: 0 is the node, then the values count from 1.
    struct Slot {
        size_t arg;
        size_t value;
    };

    std::string copy(std::span<const Arg>);
    std::string find_slots();
    void begin(int32_t node, std::span<const float> values) noexcept;

    const CommandSource s_;
    BeatFollower follower_;
    BeatDivision division_;
    std::deque<std::string> words_; ///< of args_
    std::vector<Arg> args_;         ///< the command, then its own
    std::vector<Slot> slots_;
    Message message_{};
    std::unique_ptr<RepeatedCommand> command_;
};

} // namespace scs::osc
