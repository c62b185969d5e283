// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/launcher.hpp"

#include "cli/node-properties.hpp"
#include "cli/print-relay.hpp"
#include "cli/server-node.hpp"
#include "engine/base/printable.hpp"
#include "ugen-folders.hpp"

#include <spa/utils/result.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <unistd.h>
#include <utility>

namespace scs::cli {

namespace {

using Waited = Connection::Waited;

class Launcher {
public:
    Launcher(const CommandLine& line, const std::string& print_to, Connection& connection)
        : line_(line), print_to_(print_to), connection_(connection), node_(connection) {}
    /// The node that is made instead of the one of the command line.
    void give(NodeRequest request) { given_ = std::move(request); }

    Result<int> run() {
        // The first round trip tells which nodes there are, the second their properties.
        for (int i = 0; i < 2; ++i)
            if (const Waited waited = connection_.round_trip(); waited != Waited::done)
                return end(waited);
        const NodeRequest request = given_ ? *given_ : make_request();
        if (int res = create(request); res < 0) {
            if (!given_ && res == -EADDRINUSE && owner() != SPA_ID_INVALID) {
                if (line_.take_over)
                    connection_.graph().destroy(owner());
                else if (const Waited left = wait_for_leaving_owner(); left == Waited::late)
                    return owned_error();
                else if (left != Waited::done)
                    return end(left);
                res = create_soon(request);
            }
            if (res == -EINTR)
                return 0;
            if (res < 0)
                return creation_error(res);
        }
        return serve();
    }

private:
    NodeRequest make_request() {
        DaemonFacts daemon;
        daemon.rate = connection_.daemon_property("default.clock.rate");
        daemon.quantum_limit = connection_.daemon_property("default.clock.quantum-limit");
        daemon.find_node = [this](const std::string& name) {
            const GraphView& graph = connection_.graph();
            const bool is_name = graph.find(PW_KEY_NODE_NAME, name) != SPA_ID_INVALID;
            return is_name ? name : graph.property(graph.find(PW_KEY_NODE_DESCRIPTION, name), PW_KEY_NODE_NAME);
        };
        NodeRequest request = node_request(line_, daemon);
        if (!print_to_.empty())
            request.properties["scsynth.print-to"] = print_to_;
        if (line_.verbosity >= 0)
            for (const std::string& warning : request.warnings)
                std::fprintf(stderr, "pw-scsynth: %s\n", warning.c_str());
        return request;
    }

    int create(const NodeRequest& request) {
        return node_.create(line_.in_this_process ? ServerNode::Place::this_process : ServerNode::Place::daemon,
                            request.properties);
    }

    /// The node of ours that has the port.
    uint32_t owner() const { return connection_.graph().find("scsynth.osc.port", std::to_string(line_.port)); }

    /// The owner may have been told to quit just now: clients start the next server right after that.
    Waited wait_for_leaving_owner() {
        return connection_.wait_until(
            [this] {
                const uint32_t id = owner();
                return id == SPA_ID_INVALID || connection_.graph().property(id, "scsynth.state") == "quit";
            },
            std::chrono::milliseconds(1000));
    }

    /// Creates our node once the port is free. An owner in a process of its own holds the port until that process
    /// ends, a little longer than its node is there.
    int create_soon(const NodeRequest& request) {
        int res = -EADDRINUSE;
        for (int attempt = 0; attempt < 50 && res == -EADDRINUSE; ++attempt) {
            if (connection_.wait_until([] { return false; }, std::chrono::milliseconds(50)) == Waited::interrupted)
                return -EINTR;
            res = create(request);
        }
        return res;
    }

    Error owned_error() const {
        const uint32_t id = owner();
        const std::string port = std::to_string(line_.port);
        return {"port " + port + " is that of node " + std::to_string(id) + " in PipeWire, \"" +
                printable(connection_.graph().property(id, PW_KEY_NODE_NAME)) +
                "\", a SuperCollider server already.\nUse it, in sclang by\n"
                "    Server.remote(\\pipewire, NetAddr(\"127.0.0.1\", " +
                port +
                "))\n"
                "if it has room for 32 clients at most (pw-scsynth -l 4), or replace it: pw-scsynth --take-over -u " +
                port};
    }

    std::string setting(std::string_view key) const {
        for (const auto& [each, value] : line_.settings)
            if (each == key)
                return value;
        return {};
    }

    Error creation_error(int code) const {
        const std::string port = "port " + std::to_string(line_.port);
        const char* place = line_.in_this_process ? "this program" : "the PipeWire daemon";
        switch (-code) {
        case EADDRINUSE: return {port + " is taken by another server or program; choose another with -u"};
        case EADDRNOTAVAIL: return {"-B: that is no address of this machine"};
        case EACCES: return {port + " is not permitted: choose one above 1023"};
        case EPERM: return {"-U: " + spa::how_to_allow(setting("scsynth.ugen-path"))};
        case ENOENT:
            return {std::string(place) + " finds no library scsynth/libspa-scsynth: is the plugin installed, or "
                                         "SPA_PLUGIN_DIR set for it?"};
        case ETIMEDOUT: return unanswered(Waited::late);
        case EPIPE: return unanswered(Waited::lost);
        default:
            return {std::string("cannot make the node: ") + spa_strerror(code) + "; " +
                    (line_.in_this_process
                         ? "PIPEWIRE_DEBUG=3 says more"
                         : "the log of the PipeWire daemon says more: journalctl --user -u pipewire")};
        }
    }

    std::string state() const { return connection_.graph().property(node_.id(), "scsynth.state"); }

    bool gone() const { return node_.id() == SPA_ID_INVALID || state() == "quit"; }

    Result<int> serve() {
        const Waited started = connection_.wait_until([&] {
            const std::string now = state();
            return gone() || now == "running" || now.starts_with("failed");
        });
        if (started != Waited::done)
            return end(started);
        if (state().starts_with("failed"))
            return Error{printable(state())};
        if (!gone() && !given_)
            say_ready();
        return end(connection_.wait_until([&] {
            say_resampling();
            return gone();
        }));
    }

    /// Says that the node resamples, again whenever that changes.
    void say_resampling() {
        const std::string now = connection_.graph().property(node_.id(), "scsynth.resampling");
        if (now == resampling_)
            return;
        resampling_ = now;
        if (!now.empty() && now != "no" && line_.verbosity >= 0)
            std::fprintf(stderr, "pw-scsynth: %s\n", now.c_str());
    }

    void say_ready() const {
        if (line_.port == 0)
            std::printf("port %s\n", connection_.graph().property(node_.id(), "scsynth.osc.port").c_str());
        // What clients that start a server wait for.
        if (line_.verbosity >= 0)
            std::puts("SuperCollider 3 server ready.");
    }

    static Result<int> end(Waited how) {
        if (how == Waited::lost || how == Waited::late)
            return unanswered(how);
        return 0;
    }

    const CommandLine& line_;
    const std::string& print_to_;
    Connection& connection_;
    ServerNode node_;
    std::optional<NodeRequest> given_;
    std::string resampling_;
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
    auto connection = Connection::open("client-rt.conf");
    if (!connection)
        return Error{connection.error()};
    connection.value()->end_with(STDIN_FILENO);
    const std::string nowhere;
    Launcher launcher(line, nowhere, *connection.value());
    launcher.give(std::move(request.value()));
    return launcher.run();
}

} // namespace

Result<int> run_server(const CommandLine& line) {
    if (line.isolated)
        return run_isolated(line);
    const PrintRelay relay;
    const std::string print_to = relay.path();
    // The log of a node in this process is printed. What the relay prints needn't come twice.
    if (line.in_this_process)
        setenv("PIPEWIRE_DEBUG", print_to.empty() ? "spa.scsynth:3" : "spa.scsynth:0", 0);
    pw_init(nullptr, nullptr);
    auto connection = Connection::open(line.in_this_process ? "client-rt.conf" : "client.conf");
    if (!connection)
        return Error{connection.error()};
    return Launcher(line, print_to, *connection.value()).run();
}

} // namespace scs::cli
