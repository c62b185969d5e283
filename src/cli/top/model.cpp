// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/top/model.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace scs::top {

namespace {

Sums sums_of(const SynthsEntry& entry, bool runs) {
    Sums sums;
    sums.running = runs ? entry.running : 0;
    sums.paused = int64_t(entry.paused) + (runs ? 0 : entry.running);
    sums.batches = runs ? entry.batches : 0;
    sums.nsec = double(sums.running) * entry.cost;
    sums.estimated = entry.native && sums.running > 0;
    sums.unmeasured = entry.cost ? 0 : sums.running;
    return sums;
}

using SumsByName = std::map<std::string, Sums>;

std::vector<DefLine> sorted(const SumsByName& sums) {
    std::vector<DefLine> lines;
    for (const auto& [name, each] : sums)
        lines.push_back({name, each});
    std::stable_sort(lines.begin(), lines.end(), [](const DefLine& a, const DefLine& b) {
        return std::pair(a.sums.nsec, a.sums.running) > std::pair(b.sums.nsec, b.sums.running);
    });
    return lines;
}

/// Whether each group is to be seen, as it or one in it has the view's text.
std::vector<bool> matches(const Model& model, const View& view) {
    std::vector<bool> seen(model.groups.size(), view.filter.empty());
    for (size_t i = model.groups.size(); i-- > 0;) {
        const GroupLine& group = model.groups[i];
        if (!seen[i])
            seen[i] = view.finds(std::to_string(group.id)) ||
                      std::any_of(group.defs.begin(), group.defs.end(),
                                  [&](const DefLine& def) { return view.finds(def.name); });
        if (seen[i])
            seen[group.parent] = true;
    }
    return seen;
}

bool comes_first(const GroupLine& a, const GroupLine& b, Sort sort) {
    switch (sort) {
    case Sort::cost: return std::tuple(-a.all.nsec, a.id) < std::tuple(-b.all.nsec, b.id);
    case Sort::voices:
        return std::tuple(-a.all.running, -a.all.paused, a.id) < std::tuple(-b.all.running, -b.all.paused, b.id);
    case Sort::name: break;
    }
    return a.id < b.id;
}

} // namespace

Sums& Sums::operator+=(const Sums& other) {
    running += other.running;
    paused += other.paused;
    batches += other.batches;
    nsec += other.nsec;
    estimated = estimated || other.estimated;
    unmeasured += other.unmeasured;
    return *this;
}

double Model::percent(double nsec) const {
    const double block = server.block_nsec();
    return block > 0 ? 100 * nsec / block : 0;
}

Model make_model(const Sample& sample) {
    Model model;
    model.server = sample.server;
    model.whole = sample.whole;
    std::unordered_map<int32_t, size_t> index;
    for (const GroupEntry& entry : sample.groups) {
        const auto parent = index.find(entry.parent); // that was told before; so no group is in itself
        GroupLine group;
        group.id = entry.id;
        group.parent = parent == index.end() ? 0 : parent->second;
        if (!index.emplace(entry.id, model.groups.size()).second)
            continue; // it was moved, and told twice
        const bool first = model.groups.empty();
        group.depth = first ? 0 : model.groups[group.parent].depth + 1;
        group.runs = entry.runs && (first || model.groups[group.parent].runs);
        model.groups.push_back(std::move(group));
    }
    if (model.groups.empty())
        model.groups.emplace_back();

    std::vector<SumsByName> defs(model.groups.size());
    for (const SynthsEntry& entry : sample.synths) {
        const auto group = index.find(entry.group);
        const size_t at = group == index.end() ? 0 : group->second;
        defs[at][entry.name] += sums_of(entry, model.groups[at].runs);
    }
    for (size_t i = model.groups.size(); i-- > 0;) {
        GroupLine& group = model.groups[i];
        group.defs = sorted(defs[i]);
        for (const DefLine& def : group.defs)
            group.own += def.sums;
        group.all += group.own;
        if (i > 0)
            model.groups[group.parent].all += group.all;
    }
    return model;
}

std::vector<Row> make_rows(const Model& model, const View& view) {
    const std::vector<bool> seen = matches(model, view);
    const auto& groups = model.groups;
    std::vector<std::vector<size_t>> children(groups.size());
    std::vector<int> folded(groups.size());
    std::vector<size_t> shown_in(groups.size()); ///< the group in whose line a group is
    std::map<size_t, SumsByName> together;
    for (size_t i = 0; i < groups.size(); ++i) {
        if (groups[i].depth <= view.depth) {
            shown_in[i] = i;
            if (i > 0 && seen[i])
                children[groups[i].parent].push_back(i);
            continue;
        }
        const size_t line = shown_in[i] = shown_in[groups[i].parent];
        if (folded[line]++ == 0)
            for (const DefLine& def : groups[line].defs)
                together[line][def.name] += def.sums;
        for (const DefLine& def : groups[i].defs)
            together[line][def.name] += def.sums;
    }

    std::vector<Row> rows;
    std::vector<size_t> to_come;
    if (seen[0])
        to_come.push_back(0);
    while (!to_come.empty()) {
        const size_t i = to_come.back();
        to_come.pop_back();
        rows.push_back({i, folded[i], folded[i] ? sorted(together[i]) : groups[i].defs});
        auto& below = children[i];
        std::sort(below.begin(), below.end(),
                  [&](size_t a, size_t b) { return comes_first(groups[a], groups[b], view.sort); });
        to_come.insert(to_come.end(), below.rbegin(), below.rend());
    }
    return rows;
}

} // namespace scs::top
