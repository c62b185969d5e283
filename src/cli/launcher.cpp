// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/launcher.hpp"

#include "cli/client-name.hpp"
#include "cli/devices.hpp"
#include "cli/environment.hpp"
#include "cli/node-properties.hpp"
#include "cli/pointer-child.hpp"
#include "cli/port-links.hpp"
#include "cli/print-relay.hpp"
#include "cli/server-node.hpp"
#include "engine/base/printable.hpp"
#include "module/data-loop.hpp"
#include "names.hpp"
#include "ugen-folders.hpp"

#include <spa/utils/result.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <unistd.h>
#include <utility>

namespace scs::cli {

namespace {

using Waited = Connection::Waited;
using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr milliseconds shortest_pause(50), longest_pause(1000); // between two attempts to connect
constexpr milliseconds first_pause(250);                        // the same at the start
constexpr milliseconds lock_pause(20), longest_lock(3000);      // between two attempts to take the names' lock; in all
constexpr milliseconds told_time(300);                          // within which the plugin's reason has come
constexpr milliseconds ports_time(2000);                        // from the server's start until ports are missing
// A daemon that ends sooner than this after our node was made, this often in a row, ends because of it. The node isn't
// made again, as that would silence the desktop again.
constexpr auto short_life = std::chrono::seconds(10);
constexpr int most_short_lives = 3;

class Launcher {
public:
    Launcher(const CommandLine& line, std::unique_ptr<PrintRelay> relay, Connection& connection)
        : line_(line), connection_(connection), port_(std::to_string(line.port)), relay_(std::move(relay)) {}
    /// The node that is made instead of the one of the command line, once: the program ends with the daemon, too.
    void give(NodeRequest request) { given_ = std::move(request); }

    Result<int> run() {
        if (Result<bool> connected = connect_first(); !connected || !connected.value())
            return connected ? Result<int>(0) : Result<int>(Error{connected.error()});
        for (;;) {
            Result<int> ended = live();
            if (!daemon_gone_)
                return ended;
            if (served_within_short_life() && ++short_lives_ == most_short_lives)
                return Error{"the PipeWire daemon has ended " + std::to_string(most_short_lives) +
                             " times right after the server's start, which isn't tried again"};
            if (!std::exchange(waiting_, true) && line_.verbosity >= 0)
                std::fputs("pw-scsynth: PipeWire is gone; waiting for it\n", stderr);
            if (!wait_for_daemon())
                return 0;
        }
    }

private:
    /// The first connection. At an early start PipeWire isn't there yet, so it is waited for. False: a signal has come.
    Result<bool> connect_first() {
        const auto end = Clock::now() + std::chrono::seconds(line_.wait);
        bool said = false;
        while (!connection_.connect()) {
            const int error = errno;
            if (Clock::now() >= end)
                return not_connected(error);
            if (!std::exchange(said, true) && line_.verbosity >= 0)
                std::fprintf(stderr, "pw-scsynth: PipeWire isn't there%s; waiting %d s for it (--wait)\n",
                             runtime_folder().empty() ? ", nor XDG_RUNTIME_DIR" : "", line_.wait);
            if (connection_.pause(first_pause) == Waited::interrupted)
                return false;
            adopt_runtime_folder();
        }
        if (relay_ && relay_->path().empty()) // there was no runtime directory
            relay_.reset();
        return true;
    }

    /// A node's life, from asking for it to its end. If the daemon is gone, daemon_gone_ tells.
    Result<int> live() {
        daemon_gone_ = false;
        made_.reset();
        // The path of the former one was used up by the node that connected to it.
        if (!relay_ && !given_)
            relay_ = std::make_unique<PrintRelay>();
        node_.emplace(connection_);
        Result<int> ended = make_and_serve();
        pointer_.reset();
        pointer_asked_ = false;
        links_.reset();
        node_.reset();
        relay_.reset();
        return ended;
    }

    Result<int> make_and_serve() {
        std::optional<NameLock> lock;
        if (names_.empty() && !given_)
            if (const Waited waited = take(lock.emplace()); waited != Waited::done)
                return end(waited);
        // The first round trip tells which nodes there are, the second their properties.
        for (int i = 0; i < 2; ++i)
            if (const Waited waited = connection_.round_trip(); waited != Waited::done)
                return end(waited);
        const NodeRequest request = given_ ? *given_ : make_request();
        made_ = Clock::now();
        if (int res = create(request); res < 0) {
            if (!given_ && res == -EADDRINUSE && owner() != SPA_ID_INVALID) {
                if (line_.take_over)
                    connection_.graph().destroy(owner());
                else if (const Waited left = wait_for_leaving_owner(); left == Waited::late)
                    return owned_error();
                else if (left != Waited::done)
                    return end(left);
                res = create_soon(request);
            } else if (res == -EADDRINUSE && was_ready_) { // the former daemon may still be about to end
                res = create_soon(request);
            }
            switch (-res) {
            case 0: break;
            case EINTR: return 0;
            case EPIPE: return end(Waited::lost);
            case ETIMEDOUT: return end(Waited::late);
            default: return creation_error(res);
            }
        }
        lock.reset();
        return serve();
    }

    /// Without it after a while: at worst there are two nodes of one name.
    Waited take(NameLock& lock) {
        for (milliseconds waited(0); !lock.take() && waited < longest_lock; waited += lock_pause)
            if (const Waited how = connection_.pause(lock_pause); how != Waited::late)
                return how;
        return Waited::done;
    }

    /// False if a signal has come.
    bool wait_for_daemon() {
        connection_.disconnect();
        do {
            if (connection_.pause(pause_) == Waited::interrupted)
                return false;
            pause_ = std::min(pause_ * 2, longest_pause);
        } while (!connection_.connect());
        return true;
    }

    NodeRequest make_request() {
        DaemonFacts daemon;
        daemon.rate = connection_.daemon_property("default.clock.rate");
        daemon.has_named_loops = module::has_named_loops(connection_.daemon_version().c_str());
        daemon.quantum_limit = connection_.daemon_property("default.clock.quantum-limit");
        daemon.has_node = [this](const std::string& name) {
            bool& known = devices_[name]; // when the daemon is back, its devices may come later than we do
            for (const GraphView::Properties& node : connection_.graph().all())
                known |=
                    !node.contains("scsynth.osc.port") && names_node(name, node, connection_.graph().card_of(node));
            return known;
        };
        daemon.free_name = [this](const std::string& name) {
            std::string& known = names_[name]; // the same as before when the daemon is back
            if (known.empty())
                known = free_name(name, [this](const std::string& each) { return is_taken(each); });
            return known;
        };
        NodeRequest request = node_request(line_, environment_, daemon);
        if (!relay_->path().empty())
            request.properties["scsynth.print-to"] = relay_->path();
        outputs_ = request.outputs;
        inputs_ = request.inputs;
        if (was_ready_)
            request.properties["scsynth.osc.port"] = port_;
        if (line_.verbosity >= 0 && !was_ready_)
            for (const std::string& warning : request.warnings)
                std::fprintf(stderr, "pw-scsynth: %s\n", warning.c_str());
        return request;
    }

    int create(const NodeRequest& request) {
        return node_->create(line_.in_this_process ? ServerNode::Place::this_process : ServerNode::Place::daemon,
                             request.properties);
    }

    /// Whether PipeWire or JACK knows a node by that name, other than one that goes when ours comes.
    bool is_taken(const std::string& name) const {
        const GraphView& graph = connection_.graph();
        for (const uint32_t id : graph.with(PW_KEY_NODE_NAME))
            if ((graph.property(id, PW_KEY_NODE_NAME) == name || graph.property(id, PW_KEY_NODE_DESCRIPTION) == name) &&
                graph.property(id, "scsynth.state") != "quit" && graph.property(id, "scsynth.osc.port") != port_)
                return true;
        return false;
    }

    /// The node of ours that has the port.
    uint32_t owner() const { return connection_.graph().find("scsynth.osc.port", port_); }

    /// The owner may have been told to quit just now: clients start the next server right after that.
    Waited wait_for_leaving_owner() {
        return connection_.wait_until(
            [this] {
                const uint32_t id = owner();
                return id == SPA_ID_INVALID || connection_.graph().property(id, "scsynth.state") == "quit";
            },
            milliseconds(1000));
    }

    /// Creates our node once the port is free. An owner in a process of its own holds the port until that process
    /// ends, a little longer than its node is there.
    int create_soon(const NodeRequest& request) {
        int res = -EADDRINUSE;
        for (int attempt = 0; attempt < 50 && res == -EADDRINUSE; ++attempt) {
            switch (connection_.pause(milliseconds(50))) {
            case Waited::interrupted: return -EINTR;
            case Waited::lost: return -EPIPE;
            default: res = create(request);
            }
        }
        return res;
    }

    Error owned_error() const {
        const uint32_t id = owner();
        return {"port " + port_ + " is that of node " + std::to_string(id) + " in PipeWire, \"" +
                printable(connection_.graph().property(id, PW_KEY_NODE_NAME)) +
                "\", a SuperCollider server already.\nUse it, in sclang by\n"
                "    Server.remote(\\pipewire, NetAddr(\"127.0.0.1\", " +
                port_ +
                "), o)\n"
                "where o is a ServerOptions with its channels and its number of clients, 32 at most (docs/use.md),\n"
                "or replace it: pw-scsynth --take-over -u " +
                port_};
    }

    std::string setting(std::string_view key) const {
        for (const auto& [each, value] : line_.settings)
            if (each == key)
                return value;
        return {};
    }

    Error creation_error(int code) {
        const std::string port = "port " + port_;
        const char* place = line_.in_this_process ? "this program" : "the PipeWire daemon";
        switch (-code) {
        case EADDRINUSE: return {port + " is taken by another server or program; choose another with -u"};
        case EADDRNOTAVAIL: return {"-B: that is no address of this machine"};
        case EACCES: return {port + " is not permitted: choose one above 1023"};
        case EPERM: return {line_.ugen_path_is_from + ": " + spa::how_to_allow(setting("scsynth.ugen-path"))};
        case ENOENT:
            return {std::string(place) + " finds no library " + spa::library_name +
                    ": is the plugin installed, or SPA_PLUGIN_DIR set for it?"};
        default:
            if (relay_ && relay_->has_written(told_time))
                return {std::string(place) + " refuses the node, for the reason above"};
            return {std::string("cannot make the node: ") + spa_strerror(code) + "; " +
                    (line_.in_this_process
                         ? "PIPEWIRE_DEBUG=3 says more"
                         : "the log of the PipeWire daemon says more: journalctl --user -u pipewire")};
        }
    }

    std::string state() const { return connection_.graph().property(id_, "scsynth.state"); }

    bool gone() const { return node_->id() == SPA_ID_INVALID || state() == "quit"; }

    Result<int> serve() {
        id_ = node_->id();
        const Waited started = connection_.wait_until([&] {
            const std::string now = state();
            return gone() || now == "running" || now.starts_with("failed");
        });
        if (started != Waited::done)
            return end(started);
        if (state().starts_with("failed"))
            return Error{printable(state())};
        if (!gone() && !given_)
            on_ready();
        if (const Waited waited = link_ports(); waited == Waited::interrupted || waited == Waited::lost)
            return end(waited);
        const Waited over = wait_for_end();
        // A daemon that is told to end may remove its nodes before it closes the connection.
        if (over == Waited::done && state() != "quit" && connection_.pause(milliseconds(200)) == Waited::lost)
            return end(Waited::lost);
        if (over == Waited::done && state() != "quit" && !given_)
            say_removed();
        return end(over);
    }

    /// Until the node is gone: keeps the links up to date, says how it resamples, and whether nobody hears it.
    Waited wait_for_end() {
        for (;;) {
            const Waited waited = connection_.wait_until([this] {
                say_resampling();
                update_links();
                follow_pointer();
                return gone() || has_begun_to_ask();
            });
            if (waited != Waited::done || gone())
                return waited;
            if (const Waited answered = answer_unheard(); answered != Waited::done && answered != Waited::late)
                return answered;
        }
    }

    void update_links() {
        if (links_ && !gone())
            links_->update(connection_.graph().property(id_, "scsynth.idle") == "true");
    }

    /// Once synths ask for the pointer. Who has the password starts `pw-scsynth pointer`: others would see it among
    /// the arguments.
    void follow_pointer() {
        if (!line_.pointer || given_ || pointer_asked_ || !setting("scsynth.password").empty() ||
            connection_.graph().property(node_->id(), "scsynth.pointer-missing") != "true")
            return;
        pointer_asked_ = true;
        const char* const display = std::getenv("DISPLAY");
        if (display && *display)
            pointer_.emplace(port_, setting("scsynth.osc.bind"), setting("scsynth.osc.udp") == "false");
        else if (line_.verbosity >= 0)
            std::fputs("pw-scsynth: there is no X display (DISPLAY isn't set): MouseX, MouseY and MouseButton give "
                       "their minimum\n",
                       stderr);
    }

    /// Links what the environment names, and says what isn't there.
    Waited link_ports() {
        if (!outputs_ && !inputs_)
            return Waited::done;
        links_.emplace(connection_, id_, outputs_, inputs_);
        const Waited waited = connection_.wait_until(
            [this] {
                update_links();
                return gone() || links_->missing().empty();
            },
            ports_time);
        for (const std::string& name : links_->missing())
            if (waited == Waited::late && line_.verbosity >= 0)
                std::fprintf(stderr,
                             "pw-scsynth: SC_JACK_DEFAULT_OUTPUTS or _INPUTS: there is no port \"%s\" now; "
                             "pw-link -io lists them\n",
                             printable(name).c_str());
        return waited;
    }

    /// The node's end is this program's, but nothing here has asked for it.
    void say_removed() const {
        if (line_.verbosity >= 0)
            std::fprintf(stderr,
                         "pw-scsynth: another program has removed the node of the server at port %s from PipeWire "
                         "(pw-cli destroy, or pw-scsynth --take-over); start pw-scsynth again for a new one\n",
                         port_.c_str());
    }

    /// Says that the node resamples, again whenever that changes.
    void say_resampling() {
        const std::string now = connection_.graph().property(node_->id(), "scsynth.resampling");
        if (now == resampling_)
            return;
        resampling_ = now;
        if (!now.empty() && now != "no" && line_.verbosity >= 0)
            std::fprintf(stderr, "pw-scsynth: %s\n", now.c_str());
    }

    /// Whether the node asks why nothing is linked, once each time.
    bool has_begun_to_ask() {
        const bool asks = connection_.graph().property(node_->id(), "scsynth.unheard") == "true";
        return !std::exchange(asks_, asks) && asks;
    }

    /// Where a session manager runs, that's for its policy to say.
    Waited answer_unheard() {
        const GraphView now(connection_.core());
        const Waited waited = connection_.round_trip();
        if (waited == Waited::done && !now.has_session_manager())
            node_->tell("scsynth.unheard",
                        "PipeWire has no session manager, which would link it; systemctl --user restart wireplumber");
        return waited;
    }

    /// As scsynth does: Sonic Pi shows its user what it reads there. Without a quantum of our own it is the daemon's.
    void say_rate() {
        const GraphView& graph = connection_.graph();
        int quantum = 0, rate = 0;
        if (std::sscanf(graph.property(node_->id(), "node.latency").c_str(), "%d/%d", &quantum, &rate) != 2) {
            quantum = std::atoi(connection_.daemon_property("default.clock.quantum").c_str());
            rate =
                std::atoi(graph.property(node_->id(), line_.rate > 0 ? "scsynth.sample-rate" : "scsynth.rate").c_str());
        }
        std::printf("SC_AudioDriver: sample rate = %f, driver's block size = %d\n", double(rate), quantum);
    }

    void on_ready() {
        if (line_.port == 0)
            port_ = connection_.graph().property(node_->id(), "scsynth.osc.port");
        if (line_.port == 0 && !was_ready_)
            std::printf("port %s\n", port_.c_str());
        if (line_.verbosity >= 0 && !was_ready_)
            say_rate();
        // Clients that start a server wait for a line that begins so. supriya fails at a second one.
        if (line_.verbosity >= 0)
            std::puts(was_ready_ ? "PipeWire is back: SuperCollider 3 server ready." : "SuperCollider 3 server ready.");
        was_ready_ = true;
        waiting_ = false;
        pause_ = shortest_pause;
    }

    bool served_within_short_life() {
        if (made_ && Clock::now() - *made_ < short_life)
            return true;
        if (made_)
            short_lives_ = 0;
        return false;
    }

    /// Once it was ready, the server outlives the daemon.
    Result<int> end(Waited how) {
        if (how != Waited::lost && how != Waited::late)
            return 0;
        daemon_gone_ = was_ready_;
        return unanswered(how);
    }

    const CommandLine& line_;
    Connection& connection_;
    std::string port_; ///< as asked for, or as found if any is right
    const Environment environment_ =
        read_environment([](const char* name) -> const char* { return std::getenv(name); });
    std::map<std::string, bool> devices_;      ///< whether they were found, by what -H calls them
    std::map<std::string, std::string> names_; ///< what the node is called by what was asked for
    std::optional<PortList> outputs_, inputs_; ///< to be linked by this program
    std::optional<PortLinks> links_;           ///< goes before the node
    std::optional<PointerChild> pointer_;
    bool pointer_asked_ = false; ///< synths of this node have asked for it
    std::unique_ptr<PrintRelay> relay_;
    std::optional<ServerNode> node_;        ///< goes before what it prints to
    uint32_t id_ = SPA_ID_INVALID;          ///< its global id, also when it is gone
    std::optional<Clock::time_point> made_; ///< when the node was asked for
    std::optional<NodeRequest> given_;
    std::string resampling_;
    bool asks_ = false; ///< whether the node asks why nothing is linked
    bool was_ready_ = false;
    bool daemon_gone_ = false; ///< it went, and is to be waited for
    bool waiting_ = false;     ///< since it went the server wasn't ready
    int short_lives_ = 0;
    milliseconds pause_ = shortest_pause;
};

/// Text on standard input up to a zero.
std::string read_text() {
    std::string text;
    for (char byte; ::read(STDIN_FILENO, &byte, 1) == 1 && byte;)
        text += byte;
    return text;
}

/// What the module writes to standard input (--isolated): keys and values, and an empty key.
Result<NodeRequest> read_request() {
    NodeRequest request;
    for (std::string key; !(key = read_text()).empty();)
        request.properties[key] = read_text();
    if (request.properties.empty())
        return Error{"--isolated is for PipeWire's module: it expects a node's properties on standard input"};
    return request;
}

Result<int> run_isolated(const CommandLine& line) {
    setenv("PIPEWIRE_DEBUG", "spa.scsynth:3", 0);
    pw_init(nullptr, nullptr);
    auto request = read_request();
    if (!request)
        return Error{request.error()};
    const auto connection = Connection::prepare(true);
    if (!connection)
        return not_connected(errno);
    connection->end_with(STDIN_FILENO);
    Launcher launcher(line, nullptr, *connection);
    launcher.give(std::move(request.value()));
    return launcher.run();
}

} // namespace

Result<int> run_server(const CommandLine& line) {
    if (line.isolated)
        return run_isolated(line);
    adopt_runtime_folder();
    auto relay = std::make_unique<PrintRelay>();
    // The log of a node in this process is printed. What the relay prints needn't come twice.
    if (line.in_this_process)
        setenv("PIPEWIRE_DEBUG", relay->path().empty() ? "spa.scsynth:3" : "spa.scsynth:0", 0);
    pw_init(nullptr, nullptr);
    const auto connection = Connection::prepare(line.in_this_process);
    if (!connection)
        return not_connected(errno);
    return Launcher(line, std::move(relay), *connection).run();
}

} // namespace scs::cli
