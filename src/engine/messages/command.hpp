// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/nonblocking.hpp"
#include "engine/messages/reply-to.hpp"
#include "engine/rt/ntp-time.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace scs {

class Engine;
/// What commands send their answers through. The side that makes the commands defines it; the engine only passes it by
/// name.
class ReplyPort;

/// An object that the data loop hands back to another thread, which takes over its ownership. It has its own link for
/// lists, so that handing it back needs no memory and cannot fail.
struct Handback {
    enum class Kind : uint8_t { job, reply, retired, release };
    virtual ~Handback() = default;
    /// [osc] If this is a SynthDef, its name, so that clients can be told when it is gone; else null.
    virtual const std::string* synthdef_name() const noexcept { return nullptr; }
    Handback* next_handback = nullptr; ///< for its owner's use
    Kind handed_as = Kind::release;    ///< [rt] why it was handed back
};

/// What is left to do after the [rt] part of a command.
enum class Outcome : uint8_t {
    done,  ///< nothing
    reply, ///< hand the command back to the OSC thread, which sends the reply
    job,   ///< hand the command to the worker: work(), then [rt] apply()
    again, ///< there was no time for all of it: run() it again in the next cycle, before anything else
};

struct CommandBundle;

/// What a job is, which says beside which others it may be done.
enum class JobKind : uint8_t {
    plain,   ///< it touches nothing of other jobs
    buffer,  ///< it changes the buffers that it names
    barrier, ///< it is done when all that came before it is
    plugin,  ///< it runs a plugin's code, which may take minutes and may touch the buffers that it names
};

/// The buffers that a job names.
struct JobBuffers {
    std::span<const int32_t> named;
    bool any = false; ///< it isn't known which: it may touch all
};

/// A packet that a command asks to be performed as its completion, as if it had come from `from`.
struct CompletionRequest {
    std::span<const std::byte> packet; ///< empty: none
    ReplyTo from;
};

/// One command, decoded on the OSC thread and run on the data loop. The object owns all the memory that its execution
/// needs, so that run() and apply() never allocate from the system.
class Command : public Handback {
public:
    /// [rt] Carries the command out, or starts it. Long work asks Engine::out_of_time() as it goes and returns `again`.
    virtual Outcome run(Engine&) noexcept SCS_NONBLOCKING = 0;
    /// [worker] The slow part, called only after run() returned job. An offline engine calls it in place.
    virtual void work() noexcept {}
    /// [rt] Called after work(): installs its result. Returns done or reply. The completion bundle runs after this.
    virtual Outcome apply(Engine&) noexcept SCS_NONBLOCKING { return Outcome::reply; }

    /// [worker] What kind of job it is, and which buffers it names. They stay the same from its first job to its last.
    virtual JobKind job_kind() const noexcept { return JobKind::plain; }
    virtual JobBuffers job_buffers() const noexcept { return {}; }
    /// [worker] After work(): whether the command will come back with another job.
    virtual bool job_follows() const noexcept { return false; }
    /// [osc] When it is handed back as a job: the packet that is to become its `completion`. Only the first time.
    virtual CompletionRequest take_completion_request() noexcept { return {}; }

    /// [osc] Called after Outcome::reply: sends the reply.
    virtual void answer(ReplyPort&) {}
    /// [osc] Called in place of submitting it when no engine will ever accept it: answers with the reason.
    virtual void refuse(ReplyPort&, [[maybe_unused]] std::string_view why) {}

    /// [osc] Whether nodes, buffers, buses or SynthDefs may be others after it.
    virtual bool may_change() const noexcept { return true; }
    /// [osc] Whether its job needs a copy of the tree that is made after it was given to the data loop.
    virtual bool needs_copy() const noexcept { return false; }
    /// [osc] Whether it is /quit: no failure is told from then on.
    virtual bool quits() const noexcept { return false; }
    /// [osc] Whether a plugin carries it out, which may ask for other messages to be performed then.
    virtual bool calls_plugin() const noexcept { return false; }

    /// [rt] After apply() and the completion, of a command that belongs to no bundle (a plugin's own, in pool memory):
    /// frees it, or hands it back with its next job. A bundle's commands are deleted with the bundle.
    virtual void dispose() noexcept SCS_NONBLOCKING {}

    /// Runs [rt] after apply() and before the reply. Owned by this command, may be null. work() or apply() may prevent
    /// it by setting run_completion to false. That of a command without a bundle is a bundle of its own for the engine:
    /// there must be room for it (Engine::reserve()).
    CommandBundle* completion = nullptr;
    bool run_completion = true;

    ~Command() override;

    Command* next = nullptr;         ///< the next command of the bundle
    CommandBundle* bundle = nullptr; ///< the bundle that this is part of; null for a plugin's own command
    bool counted_as_job = false;     ///< [osc] for the OSC thread alone: it waits for this command's job to finish
    uint64_t job_order = 0;          ///< for the worker alone: its place among all jobs; 0: it had none yet
    Command* next_open = nullptr;    ///< for the worker alone: the next plugin's command that isn't finished
};

/// Commands that run together at one time. Owns them. After Engine::submit() it comes back in a `retired` event when
/// all its commands, with their jobs and replies, are finished.
struct CommandBundle final : Handback {
    NtpTime time = immediately; ///< when it is to be heard; `immediately` and past times run at once
    Command* first = nullptr;
    Command* last = nullptr;
    int32_t outstanding = 0;        ///< [rt] for the engine alone: jobs not yet applied
    CommandBundle* outer = nullptr; ///< [rt] for the engine alone: the bundle with the command that this one completes
    size_t weight = 0;              ///< [osc] for the OSC thread alone: bytes that it and its replies take …
    uint64_t sender = 0;            ///< … and who has sent it

    /// [osc] Takes ownership of `command`.
    void append(Command* command) noexcept;
    /// [osc] Whether one of its commands, or of those that complete them, does.
    bool calls_plugin() const noexcept;
    ~CommandBundle() override;
};

} // namespace scs
