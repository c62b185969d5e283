// SPDX-License-Identifier: GPL-3.0-or-later
#include "osc/state-restore.hpp"

#include "engine/base/nonblocking.hpp"
#include "engine/base/text-line.hpp"
#include "engine/engine.hpp"
#include "engine/guard/fault-guard.hpp"
#include "engine/world/streams.hpp"
#include "osc/buffer-jobs.hpp"
#include "osc/clients.hpp"
#include "osc/definition-files.hpp"
#include "osc/osc-command.hpp"
#include "osc/reply-port.hpp"

#include <algorithm>
#include <unordered_map>

namespace scs::osc {

namespace {

// ns, estimates for the deadline
constexpr int64_t node_cost = 2000, control_cost = 50, bus_cost = 2;

class InstallBuffers final : public Command {
public:
    InstallBuffers(std::vector<std::pair<int32_t, Buffer>> buffers, std::vector<std::shared_ptr<FileStream>> closed,
                   std::unique_ptr<ReleasedSamples> replaced)
        : buffers_(std::move(buffers)), closed_(std::move(closed)), replaced_(std::move(replaced)) {}
    Outcome run(Engine& engine) noexcept override {
        for (const auto& [number, buffer] : buffers_)
            engine.buffers().install(number, buffer);
        engine.outbox().hand_back(replaced_.release(), Handback::Kind::release);
        return Outcome::done;
    }

private:
    std::vector<std::pair<int32_t, Buffer>> buffers_;
    std::vector<std::shared_ptr<FileStream>> closed_; ///< which synths see until then
    std::unique_ptr<ReleasedSamples> replaced_;
};

/// Makes control buses and nodes as they were.
class RestoreTree final : public Command {
public:
    RestoreTree(std::shared_ptr<const TreeState> tree, bool clears)
        : tree_(std::move(tree)), clears_(clears), made_(tree_->nodes.size()), parents_(tree_->nodes.size()) {
        std::unordered_map<int32_t, int32_t> places{{0, root}};
        for (size_t i = 0; i < parents_.size(); ++i) {
            const NodeState& node = tree_->nodes[i];
            const auto parent = places.find(node.parent);
            parents_[i] = parent == places.end() ? nowhere : parent->second;
            places[node.id] = int32_t(i);
        }
    }

    Outcome run(Engine& engine) noexcept override {
        if (clears_ && !engine.tree().freeing().free_all_in_time(engine.tree().root()))
            return Outcome::again;
        clears_ = false;
        if (!set_buses(engine))
            return Outcome::again;
        for (; next_ < made_.size(); ++next_) {
            const NodeState& node = tree_->nodes[next_];
            const int64_t controls = int64_t(node.controls.size() + node.mapped.size());
            if (engine.out_of_time(node_cost + controls * control_cost))
                return Outcome::again;
            if (const Node* made = make(engine, node, parents_[next_])) {
                made_[next_] = made->id;
                ++restored_;
            } else {
                parents_[next_] = nowhere;
            }
        }
        tell(engine);
        return Outcome::done;
    }

private:
    static constexpr int32_t root = -1, nowhere = -2;

    bool set_buses(Engine& engine) noexcept SCS_NONBLOCKING {
        const std::vector<float>& values = tree_->control_buses;
        if (buses_set_ || engine.out_of_time(int64_t(values.size()) * bus_cost))
            return buses_set_;
        for (size_t bus = 0; bus < values.size(); ++bus)
            (void)engine.buses().set_control(int64_t(bus), values[bus], engine.block_number());
        return buses_set_ = true;
    }

    /// Null: it couldn't be made, or its parent couldn't.
    Node* make(Engine& engine, const NodeState& state, int32_t parent_place) noexcept SCS_NONBLOCKING {
        Tree& tree = engine.tree();
        if (parent_place == nowhere || (parent_place >= 0 && parents_[size_t(parent_place)] == nowhere))
            return nullptr;
        const int32_t parent = parent_place == root ? 0 : made_[size_t(parent_place)];
        const int32_t id = std::max(state.id, -1); // those below can't be asked for
        Node* node =
            state.definition.empty() ? make_group(tree, state, id, parent) : make_synth(engine, state, id, parent);
        if (node && state.paused)
            tree.runs().set_run(*node, false);
        return node;
    }

    static Node* make_group(Tree& tree, const NodeState& state, int32_t id, int32_t parent) noexcept SCS_NONBLOCKING {
        Group* group = nullptr;
        return tree.new_group(id, AddAction::tail, parent, group, state.parallel).ok() ? group : nullptr;
    }

    static Node* make_synth(Engine& engine, const NodeState& state, int32_t id,
                            int32_t parent) noexcept SCS_NONBLOCKING {
        Definition* definition = engine.definitions().find(state.definition);
        const AddAction action = state.satellite == Satellite::no          ? AddAction::tail
                                 : state.satellite == Satellite::preceding ? AddAction::preceding
                                                                           : AddAction::succeeding;
        Synth* synth = nullptr;
        if (!definition || engine.tree().new_synth(*definition, nullptr, id, action, parent, synth).failed())
            return nullptr;
        ControlWriter& writer = engine.tree().controls();
        for (size_t i = 0; i < state.controls.size(); ++i)
            writer.set(*synth, int64_t(i), state.controls[i], WhenSet::at_start);
        for (const NodeState::Mapped& each : state.mapped)
            writer.map(*synth, each.control, each.bus, each.audio);
        return synth;
    }

    void tell(Engine& engine) noexcept SCS_NONBLOCKING {
        TextLine line;
        line.add("%zu of %zu nodes are back", restored_, made_.size());
        engine.outbox().print(line.take());
    }

    const std::shared_ptr<const TreeState> tree_;
    bool clears_, buses_set_ = false;
    std::vector<int32_t> made_;    ///< their IDs, by their places in tree_
    std::vector<int32_t> parents_; ///< places, root or nowhere
    size_t next_ = 0, restored_ = 0;
};

/// Clients are logged in again before they hear of anything.
class LogIn final : public Command {
public:
    explicit LogIn(std::shared_ptr<const TreeState> tree) : tree_(std::move(tree)) {}
    Outcome run(Engine&) noexcept override { return Outcome::reply; }
    void answer(ReplyPort& port) override {
        for (const LoginState& each : tree_->logins)
            if (!port.clients().full() && !port.clients().find(each.peer))
                port.clients().add(each.peer, each.id);
    }

private:
    const std::shared_ptr<const TreeState> tree_;
};

std::vector<std::unique_ptr<Definition>> compile(const StateToRestore& state, const Settings& settings,
                                                 const std::function<void(const std::string&)>& report) {
    std::vector<std::unique_ptr<Definition>> result;
    std::vector<std::string> errors;
    for (const auto& source : state.definitions)
        for (auto& each : load_definitions(source->file, settings, errors))
            result.push_back(std::move(each));
    for (const std::string& error : errors)
        report(error);
    return result;
}

/// Makes them the worker's latest; the command makes them the data loop's.
std::unique_ptr<Command> restore_buffers(std::vector<std::pair<int32_t, Buffer>>&& buffers, Buffers& table) {
    std::vector<std::shared_ptr<FileStream>> closed;
    auto replaced = std::make_unique<ReleasedSamples>();
    std::erase_if(buffers, [&](const auto& each) {
        if (!table.in_range(each.first))
            replaced->samples.push_back(each.second.data);
        return !table.in_range(each.first);
    });
    for (const auto& [number, buffer] : buffers) {
        const Buffer before = table.latest(number);
        if (before.stream)
            closed.push_back(table.streams().close(before.stream));
        replaced->samples.push_back(before.data);
        table.set_latest(number, buffer);
    }
    return std::make_unique<InstallBuffers>(std::move(buffers), std::move(closed), std::move(replaced));
}

} // namespace

void append_restore(CommandBundle& bundle, StateToRestore&& state, Services& services, Engine& engine, bool clears,
                    const std::function<void(const std::string&)>& report) {
    auto definitions = compile(state, engine.settings(), report);
    services.sources.note(definitions);
    if (!definitions.empty())
        bundle.append(make_install(std::move(definitions)).release());
    if (!state.buffers.empty())
        bundle.append(restore_buffers(std::move(state.buffers), engine.buffers()).release());
    if (state.tree && !state.tree->logins.empty())
        bundle.append(std::make_unique<LogIn>(state.tree).release());
    if (state.tree)
        bundle.append(std::make_unique<RestoreTree>(std::move(state.tree), clears).release());
}

std::vector<std::pair<int32_t, Buffer>> take_buffers(Engine& broken, const std::function<bool(int32_t)>& busy) {
    std::vector<Buffer> latest(size_t(std::max(broken.settings().buffers, 0)));
    const bool read = FaultGuard::run_host([&] {
        for (size_t number = 0; number < latest.size(); ++number)
            latest[number] = broken.buffers().latest(int(number));
    });
    std::vector<std::pair<int32_t, Buffer>> buffers;
    for (size_t i = 0; read && i < latest.size(); ++i) {
        Buffer& buffer = latest[i];
        const auto number = int32_t(i);
        if (!buffer.data || busy(number))
            continue;
        if (buffer.stream) {
            buffer.stream = nullptr;
            buffer.data = allocate_samples(buffer.samples());
        }
        if (buffer.data)
            buffers.emplace_back(number, buffer);
    }
    return buffers;
}

Result<StateToRestore> read_state(int fd, const AllocateSamples& allocate) {
    auto saved = read_score(fd, ScoreOf::file, allocate);
    if (!saved)
        return Error{saved.error()};
    StateToRestore state;
    for (auto& file : saved.value().definitions)
        state.definitions.push_back(std::make_shared<DefinitionSource>(DefinitionSource{{}, std::move(file)}));
    for (size_t i = 0; i < saved.value().buffers.size(); ++i) {
        const BufferState& each = saved.value().buffers[i];
        float* const samples = saved.value().samples[i].release();
        state.buffers.push_back({each.number, {samples, each.frames, each.channels, each.rate, nullptr}});
    }
    state.tree = std::make_shared<TreeState>(std::move(saved.value().tree));
    return state;
}

} // namespace scs::osc
