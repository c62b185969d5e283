// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/rt/ntp-time.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace scs {

class Engine;
/// What commands send their answers through. Whoever makes the commands defines it; to the engine it is only a name.
class ReplyPort;

/// Something that the data loop hands to another thread: linked by itself, so that handing it on needs no
/// memory and cannot fail. Whoever holds it has it alone.
struct Handback {
    enum class Kind : uint8_t { job, reply, retired, release };
    virtual ~Handback() = default;
    /// [osc] The name of a SynthDef, so that clients can be told when it is gone; null for anything else.
    virtual const std::string* synthdef_name() const noexcept { return nullptr; }
    Handback* next_handback = nullptr; ///< whoever has it may link it
    Kind handed_as = Kind::release;    ///< [rt] as what it was handed back
};

/// What the [rt] part of a command came to.
enum class Outcome : uint8_t {
    done,  ///< nothing more to do
    reply, ///< give the command to the OSC thread, which sends what it holds
    job,   ///< give the command to the worker: work(), then [rt] apply()
};

struct CommandBundle;

/// One command, made and decoded on the OSC thread, carried out on the data loop. The object owns all the
/// memory that its execution needs, so that run() and apply() never allocate from the system.
class Command : public Handback {
public:
    /// [rt] Carries the command out, or starts it.
    virtual Outcome run(Engine&) noexcept = 0;
    /// [worker] The slow part, only after run() returned job. In an offline engine called in place.
    virtual void work() noexcept {}
    /// [rt] After work(): installs its result. Returns done or reply; the completion bundle has not run yet.
    virtual Outcome apply(Engine&) noexcept { return Outcome::reply; }

    /// [osc] After Outcome::reply: sends what it has to say.
    virtual void answer(ReplyPort&) {}
    /// [osc] Instead of being submitted, because no engine will ever take it: answers with the reason.
    virtual void refuse(ReplyPort&, [[maybe_unused]] std::string_view why) {}

    /// [rt] Ends a command that belongs to no bundle (a plugin's own, living in the pool) once it has no more
    /// to do. Those of a bundle are deleted with it.
    virtual void dispose() noexcept {}

    /// Runs [rt] after apply() and before the reply; owned by this command. May be null. work() or apply() may
    /// drop it by setting run_completion to false.
    CommandBundle* completion = nullptr;
    bool run_completion = true;

    ~Command() override;

    Command* next = nullptr;         ///< the next command of the bundle
    CommandBundle* bundle = nullptr; ///< the bundle this is part of; null for a plugin's own
    bool counted_as_job = false;     ///< [osc] the OSC thread's own: it waits for this command to come back from a job
};

/// Commands that run together at one time. Owns them. Given to Engine::submit(), it comes back through the
/// events as `retired` when all its commands (jobs and their replies too) are done with.
struct CommandBundle final : Handback {
    NtpTime time = immediately; ///< when, at the output; `immediately` or a past time runs at once
    Command* first = nullptr;
    Command* last = nullptr;
    int32_t outstanding = 0;        ///< [rt] the engine's own: jobs not yet applied
    CommandBundle* outer = nullptr; ///< [rt] the engine's own: the bundle whose command this completes

    /// [osc] Takes ownership of `command`.
    void append(Command* command) noexcept;
    ~CommandBundle() override;
};

} // namespace scs
