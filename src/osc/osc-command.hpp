// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/nonblocking.hpp"
#include "engine/base/status.hpp"
#include "engine/messages/command.hpp"
#include "engine/nodes/node.hpp"
#include "osc/arg-reader.hpp"
#include "osc/codec/decode.hpp"
#include "osc/codec/reply-record.hpp"
#include "osc/definition-sources.hpp"
#include "osc/driver.hpp"
#include "osc/endpoint.hpp"
#include "osc/held-memory.hpp"
#include "osc/shared-memory-slot.hpp"
#include "osc/state-keeper.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace scs {
class Engine;
} // namespace scs

namespace scs::osc {

class OscCommand;
struct CommandSpec;
class KeptFolder;
struct ServerSettings;

/// What commands may use of the server around them. Outlives them.
struct Services {
    const ServerSettings& settings;
    Engine* engine = nullptr; ///< set before the first work()
    SharedMemorySlot shared_memory;
    HeldTotal held = std::make_shared<std::atomic<size_t>>(0); ///< [osc]
    std::atomic<bool> resting{false};                          ///< see Server::rest()
    std::function<void()> rouse;                               ///< [osc] what ends that
    uint64_t outlet = 0;                                       ///< number of the server's PluginOutlet; 0: none
    DefinitionSources sources;
    Driver driver; ///< [rt]
    StateKeeper keeper;
    std::shared_ptr<KeptFolder> kept; ///< [worker] null: there is none
    /// If `held` exceeds this, commands get no room for long replies.
    size_t most_held = std::numeric_limits<size_t>::max();

    explicit Services(const ServerSettings&);
    /// [worker] Memory for a buffer, free_samples()'s; null if there is none.
    float* allocate(int64_t samples);
};

/// What every command is made from, on the OSC thread. `message` points into `packet`.
struct CommandInit {
    std::shared_ptr<const Packet> packet;
    const Message* message;
    const CommandSpec* spec;
    Services* services;
    Endpoint from;
};

/// [rt] Carries out a command that is done at once. A failure that it returns is answered by /fail, unless /error says
/// otherwise; what it has written to command.reply() is sent in either case. A handler that loops over arguments or
/// nodes asks engine.out_of_time() in each round. If that is true, it leaves its place in command.place() and returns
/// command.unfinished(); it is called again in the next cycle, and nothing else happens in between.
using Handler = Status (*)(OscCommand& command, Engine& engine) noexcept SCS_NONBLOCKING;
/// Makes the object of a command that has a class of its own, e.g. a job: make_command<T>.
using Maker = std::unique_ptr<OscCommand> (*)(CommandInit&&);
/// [osc] Bytes that the replies may take in a ReplyWriter; 0: no replies. See reply_bytes().
using ReplyRoom = size_t (*)(ArgReader args) noexcept;

/// The integer that a command may be addressed by: 0 to 255, or none. A row of the table with another one does not
/// compile.
class CommandNumber {
public:
    static constexpr int end = 256;

    constexpr CommandNumber() noexcept = default;
    consteval CommandNumber(int number) : number_(number) {
        if (number < 0 || number >= end)
            throw "a command's number is 0 to 255";
    }
    constexpr bool any() const noexcept { return number_ >= 0; }
    constexpr size_t index() const noexcept { return size_t(number_); }

private:
    int number_ = -1;
};

/// One row of the command table.
struct CommandSpec {
    CommandNumber number = {};      ///< without one the command is found by its name only
    const char* name;               ///< with its slash
    const char* types = "";         ///< arguments that must be there: s string, b blob, i anything
    Handler handler = nullptr;      ///< null, and make too: not there (yet), answered "Command not found"
    ReplyRoom reply_room = nullptr; ///< null: the handler doesn't reply
    Maker make = nullptr;           ///< instead of a handler
    bool plays = false;             ///< whether it may bring a server to sound that is silent
    bool bindable = false;          ///< may be what a binding does: it needs no other thread, and answers nothing
};

/// The packet, its memory counted in Services::held as long as it exists. [osc]
std::shared_ptr<const Packet> hold(const Services&, Packet&&);

/// How far a handler has come. It may use the fields as it likes.
struct Place {
    ArgReader args;   ///< at first all arguments
    ArgReader within; ///< what is left of an item at `args` that has many values
    NodeWalk walk;
    Node* node = nullptr;
    Node* other = nullptr;
    int64_t number = 0, end = 0, part = 0;
};

/// A message on its way through the engine. It keeps its packet alive, and so its arguments.
class OscCommand : public Command {
public:
    explicit OscCommand(CommandInit&&);

    const CommandSpec& spec() const noexcept { return *init_.spec; }
    const char* name() const noexcept { return init_.spec->name; }
    const Message& message() const noexcept { return *init_.message; }
    const Endpoint& from() const noexcept { return init_.from; }
    Services& services() const noexcept { return *init_.services; }
    /// All arguments, from the first.
    ArgReader args() const noexcept { return args_; }

    /// [rt] Where replies are written. Has the room that the row's reply_room asked for.
    ReplyWriter& reply() noexcept { return writer_; }
    /// [rt] How far the handler has come; new in the first call.
    Place& place() noexcept { return place_; }
    /// [rt] The handler is to be called again: `return command.unfinished();`
    Status unfinished() noexcept SCS_NONBLOCKING;
    /// [rt] A failure with a text of its own, a literal: `return command.fail("...")`.
    Status fail(const char* literal) noexcept SCS_NONBLOCKING;

    Outcome run(Engine&) noexcept override;

    /// What only replies changes nothing.
    bool may_change() const noexcept override { return !spec().handler || !spec().reply_room; }
    /// [osc] After Outcome::reply: sends the replies, then the failure, to the sender.
    void answer(ReplyPort&) override;
    /// [osc] Sends a /fail with the reason to the sender.
    void refuse(ReplyPort&, std::string_view why) override;

    /// [osc] The completion message's bytes, empty if there is none.
    virtual std::span<const std::byte> completion_bytes() const noexcept { return {}; }
    /// [osc] When it is run it fails with this Status, instead of running.
    void reject(Status) noexcept;
    /// [osc, worker] A failure with any text, and the number that follows it. The last one counts.
    void set_failure(std::string text, std::optional<int32_t> extra = {});

protected:
    /// [rt] Whether the handler, or begin(), that has just returned was unfinished().
    bool goes_on() noexcept { return std::exchange(unfinished_, false); }
    /// [rt] How its work ended: remembers a failure, and says whether there is anything to answer.
    Outcome ended(Status, Engine&) noexcept SCS_NONBLOCKING;

    bool failed() const noexcept { return status_.failed() || failure_text_.has_value(); }
    /// The text of the failure; only if failed().
    std::string failure_text() const;
    /// The address as the client wrote it, or the name if it used the number.
    std::string_view name_as_sent() const noexcept;
    /// What reject() was called with; ok if it wasn't.
    Status rejection() const noexcept { return rejection_; }
    /// [rt] Its handler begins anew, with these arguments.
    void begin_again(std::span<const Arg> args) noexcept {
        args_ = ArgReader(args);
        place_ = {args_};
        literal_ = nullptr;
    }
    /// [rt] What fail() got; null if nothing.
    const char* literal() const noexcept { return literal_; }

private:
    size_t claim_room();

    CommandInit init_;
    ArgReader args_;
    Place place_;
    bool unfinished_ = false;
    HeldMemory held_;
    bool lacks_room_ = false;
    std::vector<std::byte> room_;
    ReplyWriter writer_;
    Status status_, rejection_;
    const char* literal_ = nullptr;
    std::optional<std::string> failure_text_;
    std::optional<int32_t> failure_extra_;
};

/// A command with slow work: constructor [osc] → begin() [rt] → do_work() [worker] → install() [rt] →
/// completion message [rt] → answer [osc], `/done <name> [value]`. If the constructor or do_work() calls
/// set_failure(), the remaining steps are left out and the answer is /fail.
///
/// To write one: read the arguments in the constructor, override do_work() and install(). Keep what install() replaces
/// in members: the destructor runs on the OSC thread and may free it.
class OscJob : public OscCommand {
public:
    using OscCommand::OscCommand;

    Outcome run(Engine&) noexcept final;
    void work() noexcept final;
    Outcome apply(Engine&) noexcept final;
    void answer(ReplyPort&) override;
    std::span<const std::byte> completion_bytes() const noexcept final { return completion_bytes_; }

protected:
    /// [rt] Before the slow part. A failure ends the job here.
    virtual Status begin(Engine&) noexcept SCS_NONBLOCKING { return {}; }
    /// [worker] The slow part; may throw.
    virtual void do_work() = 0;
    /// [rt] Makes the result visible to synths, before the completion message runs.
    virtual void install(Engine&) noexcept SCS_NONBLOCKING {}
    /// [osc] The answer to a job that succeeded; /done unless overridden.
    virtual void answer_done(ReplyPort&);
    /// [osc] Takes the completion message if `args` stands at one; for constructors.
    void take_completion(ArgReader args) noexcept { completion_bytes_ = args.get_blob(); }
    /// [osc, worker] A number that follows the name in /done (and in /fail, unless it has its own).
    void set_done_value(int32_t value) noexcept { done_value_ = value; }
    /// [worker] A /fail to be sent before the /done, which still comes.
    void add_warning(std::string text) { warnings_.push_back(std::move(text)); }

private:
    std::span<const std::byte> completion_bytes_;
    std::optional<int32_t> done_value_;
    std::vector<std::string> warnings_;
    bool worked_ = false;
};

template <class T>
std::unique_ptr<OscCommand> make_command(CommandInit&& init) {
    return std::make_unique<T>(std::move(init));
}

/// Bytes that messages take in a ReplyWriter: `messages` of them, with addresses of at most 64 bytes, and `arguments`
/// arguments in all, whose strings are `text_bytes` long together.
constexpr size_t reply_bytes(size_t messages, size_t arguments, size_t text_bytes = 0) noexcept {
    return messages * 72 + arguments * 9 + text_bytes;
}
/// The most that a reply takes on the wire; larger ones fail with buffer_overflow, as scsynth's.
inline constexpr size_t max_reply_bytes = 65536;

} // namespace scs::osc
