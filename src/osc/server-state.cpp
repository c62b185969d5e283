// SPDX-License-Identifier: GPL-3.0-or-later
#include "osc/server-state.hpp"

#include "engine/base/available-memory.hpp"
#include "osc/arg-reader.hpp"
#include "osc/codec/compose.hpp"
#include "osc/definition-files.hpp"
#include "osc/file-access.hpp"
#include "osc/score-reader.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <sys/stat.h>
#include <utility>

namespace scs::osc {

namespace {

constexpr int32_t values_at_once = 1024; ///< scsynth -N takes no packet over 8192 bytes

// ---- writing

/// Of a sample that synths may be writing.
uint32_t bits(const float& sample) {
    return std::bit_cast<uint32_t>(std::atomic_ref(const_cast<float&>(sample)).load(std::memory_order_relaxed));
}

class ScoreWriter {
public:
    explicit ScoreWriter(const ByteSink& sink) : sink_(sink) {}

    bool ok() const { return ok_; }
    bool is_empty() const { return bundle_.empty(); }

    void add(std::string_view address, std::initializer_list<ReplyArg> args) {
        const std::vector<ReplyArg> all(args);
        add_composed(address, all);
    }

    /// A message of integers, and then values.
    void add_values(std::string_view address, std::initializer_list<int32_t> first, std::span<const float> values) {
        std::vector<ReplyArg> all(first.begin(), first.end());
        all.insert(all.end(), values.begin(), values.end());
        add_composed(address, all);
    }

    /// The samples of a buffer from `start` on. Without liblo, as there may be hundreds of millions.
    void add_samples(int32_t number, int32_t start, std::span<const float> values) {
        constexpr std::string_view address{"/b_setn\0", 8};
        message_.clear();
        put_text(message_, address);
        put_text(message_, ",iii");
        message_.insert(message_.end(), values.size(), std::byte('f'));
        do
            message_.push_back(std::byte(0));
        while (message_.size() % 4 != 0);
        for (const int32_t each : {number, start, int32_t(values.size())})
            put(message_, uint32_t(each));
        for (const float& each : values)
            put(message_, bits(each));
        put_bundle(message_);
    }

private:
    using Bytes = std::vector<std::byte>;

    static void put_text(Bytes& to, std::string_view text) {
        for (const char each : text)
            to.push_back(std::byte(each));
    }
    static void put(Bytes& to, uint32_t value) {
        for (int shift = 24; shift >= 0; shift -= 8)
            to.push_back(std::byte(value >> shift));
    }
    void add_composed(std::string_view address, std::span<const ReplyArg> args) {
        const auto message = composer_.compose(address, args);
        if (message)
            put_bundle(message.value());
        else
            ok_ = false;
    }
    /// A bundle of one message, at the start of the score.
    void put_bundle(std::span<const std::byte> message) {
        constexpr size_t head = 20; // what is in a bundle of one message beside that
        bundle_.clear();
        put(bundle_, uint32_t(head + message.size()));
        put_text(bundle_, {"#bundle\0\0\0\0\0\0\0\0\0", 16});
        put(bundle_, uint32_t(message.size()));
        const size_t begin = bundle_.size();
        bundle_.resize(begin + message.size()); // in insert() GCC 14 sees an overflow where there is none
        std::ranges::copy(message, bundle_.begin() + ptrdiff_t(begin));
        ok_ = ok_ && sink_(bundle_);
    }

    const ByteSink& sink_;
    ReplyComposer composer_;
    Bytes message_, bundle_;
    bool ok_ = true;
};

bool all_zero(std::span<const float> samples) {
    return std::all_of(samples.begin(), samples.end(), [](const float& each) { return bits(each) == 0; });
}

void write_buffer(ScoreWriter& score, const BufferState& buffer) {
    const bool in_file = !buffer.file.empty();
    if (in_file)
        score.add("/b_kept", {buffer.number, buffer.frames, buffer.channels, std::string_view(buffer.file)});
    else
        score.add("/b_alloc", {buffer.number, buffer.frames, buffer.channels});
    if (buffer.rate > 0)
        score.add("/b_setSampleRate", {buffer.number, float(buffer.rate)});
    const int64_t samples = buffer.samples && !in_file ? int64_t(buffer.frames) * buffer.channels : 0;
    for (int64_t start = 0; start < samples && score.ok(); start += values_at_once) {
        const std::span some(buffer.samples + start, size_t(std::min<int64_t>(values_at_once, samples - start)));
        if (!all_zero(some)) // as /b_alloc leaves them
            score.add_samples(buffer.number, int32_t(start), some);
    }
}

void write_node(ScoreWriter& score, const NodeState& node) {
    constexpr int32_t to_tail = 1;
    if (node.definition.empty())
        score.add(node.parallel ? "/p_new" : "/g_new", {node.id, to_tail, node.parent});
    else if (node.satellite == Satellite::no)
        score.add("/s_new", {std::string_view(node.definition), node.id, to_tail, node.parent});
    else
        score.add("/sat_new", {std::string_view(node.definition), node.id,
                               int32_t(node.satellite == Satellite::succeeding), node.parent});
    const std::span<const float> values = node.controls;
    for (size_t at = 0; at < values.size(); at += values_at_once) {
        const auto some = values.subspan(at, std::min<size_t>(values_at_once, values.size() - at));
        score.add_values("/n_setn", {node.id, int32_t(at), int32_t(some.size())}, some);
    }
    for (const NodeState::Mapped& each : node.mapped)
        score.add(each.audio ? "/n_mapa" : "/n_map", {node.id, each.control, each.bus});
    if (node.paused)
        score.add("/n_run", {node.id, int32_t(0)});
}

// ---- reading

/// Carries out the commands of a score.
class StateReader {
public:
    StateReader(ScoreOf whose, const AllocateSamples& allocate) : whose_(whose), allocate_(allocate) {}

    /// False: it isn't one of those, or it is malformed.
    bool take(const Message& message) {
        using Take = bool (StateReader::*)(ArgReader);
        struct Row {
            std::string_view name, types;
            Take take;
        };
        static constexpr Row rows[] = {
            {"d_recv", "b", &StateReader::definition},     {"b_alloc", "iii", &StateReader::buffer},
            {"b_setSampleRate", "if", &StateReader::rate}, {"b_setn", "iii", &StateReader::samples},
            {"c_setn", "ii", &StateReader::buses},         {"g_new", "iii", &StateReader::group<false>},
            {"p_new", "iii", &StateReader::group<true>},   {"s_new", "siii", &StateReader::synth},
            {"sat_new", "siii", &StateReader::satellite},  {"n_setn", "iii", &StateReader::controls},
            {"n_map", "iii", &StateReader::map<false>},    {"n_mapa", "iii", &StateReader::map<true>},
            {"n_run", "ii", &StateReader::pause},          {"b_kept", "iiis", &StateReader::kept_buffer},
            {"notify", "iii", &StateReader::login},
        };
        const auto row = std::ranges::find(rows, message.name(), &Row::name);
        return row != std::end(rows) && has_prefix(message.args, row->types) &&
               (this->*row->take)(ArgReader(message.args));
    }

    SavedState take_state() { return std::move(state_); }

private:
    static bool has_prefix(std::span<const Arg> args, std::string_view types) {
        return args.size() >= types.size() &&
               std::ranges::equal(args.first(types.size()), types, {}, [](const Arg& arg) { return char(arg.type); });
    }
    /// The values after a count; all must be there, nothing else, and right after those that were read before.
    static bool read_values(ArgReader args, std::vector<float>& into, size_t at) {
        const int32_t count = args.get_int();
        if (count < 0 || size_t(count) != args.rest().size() || at != into.size())
            return false;
        into.resize(at + size_t(count));
        for (int32_t i = 0; i < count; ++i) {
            if (args.tag() != 'f')
                return false;
            into[at + size_t(i)] = args.get_float();
        }
        return true;
    }

    bool definition(ArgReader args) {
        const auto bytes = args.get_blob();
        state_.definitions.emplace_back(bytes.begin(), bytes.end());
        return true;
    }
    bool buffer(ArgReader args) {
        BufferState made;
        if (whose_ == ScoreOf::kept_folder || !read_size(args, made) ||
            !leaves_memory(int64_t(made.frames) * made.channels * int64_t(sizeof(float))))
            return false;
        decltype(state_.samples)::value_type memory(allocate_(int64_t(made.frames) * made.channels), free_samples);
        if (!memory)
            return false;
        made.samples = memory.get();
        state_.samples.push_back(std::move(memory));
        state_.buffers.push_back(std::move(made));
        return true;
    }
    bool kept_buffer(ArgReader args) {
        BufferState made;
        if (whose_ != ScoreOf::kept_folder || !read_size(args, made))
            return false;
        made.file = args.get_string();
        state_.samples.emplace_back(nullptr, free_samples);
        state_.buffers.push_back(std::move(made));
        return !state_.buffers.back().file.empty();
    }
    static bool read_size(ArgReader& args, BufferState& buffer) {
        buffer.number = args.get_int();
        buffer.frames = args.get_int();
        buffer.channels = args.get_int();
        return buffer.number >= 0 && buffer.frames > 0 && buffer.channels > 0 &&
               int64_t(buffer.frames) * buffer.channels <= INT32_MAX;
    }
    bool login(ArgReader args) {
        LoginState login;
        login.peer.address = uint32_t(args.get_int());
        login.peer.port = uint16_t(args.get_int());
        login.id = args.get_int();
        state_.tree.logins.push_back(login);
        return whose_ == ScoreOf::kept_folder;
    }
    bool rate(ArgReader args) {
        if (state_.buffers.empty() || state_.buffers.back().number != args.get_int())
            return false;
        state_.buffers.back().rate = double(args.get_float());
        return true;
    }
    bool samples(ArgReader args) {
        if (state_.buffers.empty() || state_.buffers.back().number != args.get_int())
            return false;
        const BufferState& buffer = state_.buffers.back();
        const int64_t start = args.get_int(), count = args.get_int();
        if (!buffer.samples || start < 0 || count < 0 || size_t(count) != args.rest().size() ||
            start + count > int64_t(buffer.frames) * buffer.channels)
            return false;
        float* to = state_.samples.back().get() + start;
        for (int64_t i = 0; i < count; ++i)
            *to++ = args.get_float();
        return true;
    }
    bool buses(ArgReader args) {
        const int32_t first = args.get_int();
        return first >= 0 && read_values(args, state_.tree.control_buses, size_t(first));
    }
    template <bool parallel>
    bool group(ArgReader args) {
        NodeState node;
        node.id = args.get_int();
        node.parallel = parallel;
        return add(std::move(node), args);
    }
    bool synth(ArgReader args) {
        NodeState node;
        node.definition = args.get_string();
        node.id = args.get_int();
        return !node.definition.empty() && add(std::move(node), args);
    }
    bool satellite(ArgReader args) {
        NodeState node;
        node.definition = args.get_string();
        node.id = args.get_int();
        node.satellite = args.get_int() == 0 ? Satellite::preceding : Satellite::succeeding;
        node.parent = args.get_int();
        state_.tree.nodes.push_back(std::move(node));
        return !state_.tree.nodes.back().definition.empty();
    }
    /// Where it goes is what follows: to the tail of a group.
    bool add(NodeState&& node, ArgReader args) {
        const bool to_tail = args.get_int() == 1;
        node.parent = args.get_int();
        state_.tree.nodes.push_back(std::move(node));
        return to_tail;
    }
    /// The node that was made last, if the next argument is its ID.
    NodeState* last(ArgReader& args) {
        auto& nodes = state_.tree.nodes;
        return !nodes.empty() && nodes.back().id == args.get_int() ? &nodes.back() : nullptr;
    }
    bool controls(ArgReader args) {
        NodeState* node = last(args);
        const int32_t first = args.get_int();
        return node && first >= 0 && read_values(args, node->controls, size_t(first));
    }
    template <bool audio>
    bool map(ArgReader args) {
        NodeState* node = last(args);
        const int32_t control = args.get_int();
        if (node)
            node->mapped.push_back({control, args.get_int(), audio});
        return node;
    }
    bool pause(ArgReader args) {
        NodeState* node = last(args);
        if (node)
            node->paused = args.get_int() == 0;
        return node;
    }

    const ScoreOf whose_;
    const AllocateSamples& allocate_;
    SavedState state_;
};

/// That of the largest SynthDef file.
constexpr size_t largest_packet = size_t(max_definition_file) + 64;

Result<SavedState> read_all_packets(ScoreReader& score, ScoreOf whose, const AllocateSamples& allocate) {
    if (score.at_end())
        return Error{"it is empty"};
    StateReader state(whose, allocate);
    while (!score.at_end()) {
        const auto packet = score.next();
        if (!packet)
            return Error{packet.error()};
        for (const Message& message : packet.value()->messages())
            if (!state.take(message))
                return score.error(std::string(1, '/')
                                       .append(message.name().substr(0, 64))
                                       .append(" isn't what a saved state has, or there is no memory for it"));
    }
    return state.take_state();
}

} // namespace

bool write_score(std::span<const std::shared_ptr<const DefinitionSource>> definitions,
                 std::span<const BufferState> buffers, const TreeState& tree, const ByteSink& sink) {
    ScoreWriter score(sink);
    for (const auto& each : definitions)
        score.add("/d_recv", {std::span<const std::byte>(each->file)});
    for (const BufferState& each : buffers)
        write_buffer(score, each);
    const std::span<const float> buses = tree.control_buses;
    for (size_t at = 0; at < buses.size(); at += values_at_once) {
        const auto some = buses.subspan(at, std::min<size_t>(values_at_once, buses.size() - at));
        score.add_values("/c_setn", {int32_t(at), int32_t(some.size())}, some);
    }
    for (const NodeState& each : tree.nodes)
        write_node(score, each);
    for (const LoginState& each : tree.logins)
        score.add("/notify", {int32_t(each.peer.address), int32_t(each.peer.port), each.id});
    if (score.is_empty()) // a file without anything is no state: it may have been cut off
        score.add_values("/c_setn", {0, 1}, std::array{0.f});
    return score.ok();
}

Result<SavedState> read_score(std::span<const std::byte> bytes, ScoreOf whose, const AllocateSamples& allocate) {
    ScoreReader score(bytes);
    return read_all_packets(score, whose, allocate);
}

Result<SavedState> read_score(int fd, ScoreOf whose, const AllocateSamples& allocate) {
    struct stat status;
    if (::fstat(fd, &status) != 0)
        return Error{std::strerror(errno)};
    if (!S_ISREG(status.st_mode))
        return Error{"it is no file"};
    if (!leaves_memory(2 * status.st_size)) // for what it holds
        return Error{"there isn't enough memory for it"};
    ScoreReader score(
        uint64_t(status.st_size), [fd](std::span<std::byte> into) { return read_all(fd, into); }, largest_packet);
    return read_all_packets(score, whose, allocate);
}

} // namespace scs::osc
