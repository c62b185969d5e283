// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/status/query.hpp"

#include "cli/top/refusal.hpp"
#include "osc/arg-reader.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <unordered_set>
#include <utility>

namespace scs::status {

namespace {

constexpr int32_t root = 0;
constexpr int most_restarts = 3;
constexpr int most_pages = 65536;      // those of a server with as much as it may have
constexpr size_t most_places = 2 * 16; // numbers after "next" of /n_list

struct List {
    const char* address;
    size_t head; ///< how many numbers say where a page begins
};
constexpr List lists[] = {{"/server_info", 0}, {"/n_list", 3}, {"/d_list", 3}, {"/b_list", 1}, {"/bind_list", 2}};
constexpr size_t nodes = 1, synthdefs = 2, bindings = 4; ///< which ones they are

/// Where the items of an entry go on, after those of other entries.
struct Part {
    explicit Part(top::Reader& reader) : all(reader.count()), first(reader.count()), told(reader.count()) {}
    int all, first, told;
};

/// Reads controls of an entry, unless others before them are missing. false: they are.
bool read_controls(top::Reader& reader, std::vector<Control>& controls) {
    const Part part(reader);
    if (part.first == 0)
        controls.clear(); // it is told anew
    const bool follows = size_t(part.first) == controls.size();
    for (int i = 0; i < part.told && reader.good(); ++i) {
        Value name = reader.value(), value = reader.value();
        if (reader.good() && follows)
            controls.push_back({std::holds_alternative<std::string>(name) ? std::get<std::string>(name) : "", value});
    }
    return follows;
}

Node read_group(top::Reader& reader) {
    Node node;
    node.is_group = true;
    node.id = reader.whole();
    node.parent = reader.whole();
    node.runs = reader.whole() != 0;
    node.parallel = reader.whole() != 0;
    return node;
}

/// The last of them if it is the same as that which an entry tells of, else the new one, put after them.
template <class T, class Same>
T& same_or_new(std::vector<T>& all, T&& read, Same same) {
    if (all.empty() || !same(all.back(), read))
        all.push_back(std::move(read));
    return all.back();
}

bool read_synth(top::Reader& reader, std::vector<Node>& all) {
    Node read;
    read.id = reader.whole();
    read.parent = reader.whole();
    read.runs = reader.whole() != 0;
    read.synthdef = reader.text();
    const auto same = [](const Node& a, const Node& b) { return a.id == b.id && a.synthdef == b.synthdef; };
    return read_controls(reader, same_or_new(all, std::move(read), same).controls);
}

bool read_synthdef(top::Reader& reader, std::vector<SynthDef>& all) {
    SynthDef read;
    read.name = reader.text();
    read.synths = reader.count();
    read.units = reader.count();
    read.native = reader.whole() != 0;
    const auto same = [](const SynthDef& a, const SynthDef& b) { return a.name == b.name; };
    return read_controls(reader, same_or_new(all, std::move(read), same).controls);
}

Buffer read_buffer(top::Reader& reader) {
    Buffer buffer;
    buffer.number = reader.whole();
    buffer.frames = reader.count();
    buffer.channels = reader.count();
    buffer.rate = reader.real();
    buffer.streams = reader.whole() != 0;
    return buffer;
}

bool read_binding(top::Reader& reader, std::vector<Binding>& all) {
    Binding read;
    read.id = reader.whole();
    const auto same = [](const Binding& a, const Binding& b) { return a.id == b.id; };
    Binding& binding = same_or_new(all, std::move(read), same);
    const Part part(reader);
    if (part.first == 0)
        binding.words.clear(); // it is told anew
    const bool follows = size_t(part.first) == binding.words.size();
    for (int i = 0; i < part.told && reader.good(); ++i) {
        Value word = reader.value();
        if (reader.good() && follows)
            binding.words.push_back(std::move(word));
    }
    return follows;
}

/// Of those that were told twice, as they moved meanwhile, the last one stays.
template <class T, class Key>
void keep_last(std::vector<T>& all, Key key) {
    std::unordered_set<std::decay_t<decltype(key(all.front()))>> seen;
    std::vector<T> kept;
    for (auto each = all.rbegin(); each != all.rend(); ++each)
        if (seen.insert(key(*each)).second)
            kept.push_back(std::move(*each));
    std::reverse(kept.begin(), kept.end());
    all = std::move(kept);
}

} // namespace

bool Query::of_nodes() const {
    return list_ == nodes;
}

const char* Query::address() const {
    return lists[list_].address;
}

std::vector<osc::ReplyArg> Query::arguments() const {
    std::vector<osc::ReplyArg> args;
    if (of_nodes())
        args.emplace_back(root);
    args.insert(args.end(), places_.begin(), places_.end());
    if (!place_name_.empty())
        args.emplace_back(std::string_view(place_name_));
    return args;
}

Query::Step Query::fail(std::string why) {
    failure_ = std::move(why);
    return Step::failed;
}

Query::Step Query::take(const osc::Message& message) {
    if (list_ == std::size(lists))
        return Step::ignored;
    if (message.name() == "fail")
        return take_failure(message);
    if (message.address != std::string(address()) + ".reply")
        return Step::ignored;
    const std::string asked = address();
    top::Reader reader(message.args);
    const Step step = take_page(reader);
    return reader.good() ? step : fail("the server's answer to " + asked + " is not as this program knows it");
}

/// What was asked for twice may also be answered twice.
bool Query::expects(const Numbers& begins) const {
    if (!of_nodes())
        return places_.empty()
                   ? begins == Numbers(begins.size())
                   : places_.size() >= begins.size() && std::equal(begins.begin(), begins.end(), places_.begin());
    if (places_.empty() || begins[0] != root)
        return begins == Numbers{root, root, 0};
    for (size_t i = 0; i + 1 < places_.size(); i += 2)
        if (begins[1] == places_[i] && begins[2] == places_[i + 1])
            return true;
    return false;
}

/// Whether nodes between the page before and this one may have been passed over.
bool Query::skipped(const Numbers& begins) const {
    return of_nodes() && places_.size() == most_places && begins[1] == places_[most_places - 2] &&
           begins[2] == places_[most_places - 1];
}

Query::Step Query::take_page(top::Reader& reader) {
    if (list_ == 0) {
        read_figures(reader);
        return next_list();
    }
    Numbers begins(lists[list_].head), next;
    for (int32_t& number : begins)
        number = reader.whole();
    if (!reader.good() || !expects(begins))
        return Step::ignored;
    if (skipped(begins)) {
        if (restarts_ < most_restarts)
            return begin_again();
        contents_.whole = false;
    }
    place_name_.clear();
    while (reader.more())
        read_entry(reader, next);
    return next.empty() ? next_list() : go_on(std::move(next));
}

Query::Step Query::go_on(Numbers next) {
    if (++pages_ == most_pages)
        return fail("the server's lists have no end");
    places_ = std::move(next);
    return Step::ask;
}

void Query::read_figures(top::Reader& reader) {
    while (reader.more()) {
        std::string name = reader.text();
        contents_.figures.insert_or_assign(std::move(name), reader.value());
    }
}

void Query::read_entry(top::Reader& reader, Numbers& next) {
    const std::string kind = reader.text();
    if (kind == "group")
        contents_.nodes.push_back(read_group(reader));
    else if (kind == "synth")
        contents_.whole &= read_synth(reader, contents_.nodes);
    else if (kind == "synthdef")
        contents_.whole &= read_synthdef(reader, contents_.synthdefs);
    else if (kind == "buffer")
        contents_.buffers.push_back(read_buffer(reader));
    else if (kind == "binding")
        contents_.whole &= read_binding(reader, contents_.bindings);
    else if (kind == "next")
        read_next(reader, next);
    else
        reader.reject();
}

void Query::read_next(top::Reader& reader, Numbers& next) {
    while (reader.more())
        if (list_ == synthdefs && reader.at_text())
            place_name_ = reader.text();
        else
            next.push_back(reader.whole());
}

Query::Step Query::begin_again() {
    ++restarts_;
    contents_.nodes.clear();
    places_.clear();
    return Step::ask;
}

Query::Step Query::next_list() {
    if (list_ == nodes)
        keep_last(contents_.nodes, [](const Node& node) { return node.id; });
    if (list_ == synthdefs) {
        keep_last(contents_.synthdefs, [](const SynthDef& each) { return each.name; });
        std::ranges::sort(contents_.synthdefs, {}, &SynthDef::name);
    }
    if (list_ == bindings)
        keep_last(contents_.bindings, [](const Binding& binding) { return binding.id; });
    places_.clear();
    place_name_.clear();
    return ++list_ == std::size(lists) ? Step::done : Step::ask;
}

/// Where the next page of nodes was to begin, all have gone: the tree is asked for anew, and if that happens again and
/// again, what is known of it has to do.
Query::Step Query::take_failure(const osc::Message& message) {
    osc::ArgReader args(message.args);
    const std::string_view name = args.get_string(), text = args.get_string();
    if (name != address())
        return Step::ignored;
    if (!of_nodes() || places_.empty() || !text.starts_with("Node "))
        return fail(top::refusal(name, text));
    if (restarts_ < most_restarts)
        return begin_again();
    contents_.whole = false;
    return next_list();
}

} // namespace scs::status
