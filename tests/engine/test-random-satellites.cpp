// SPDX-License-Identifier: GPL-3.0-or-later
#include "test-satellites.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <vector>

using namespace scs;
using namespace scs::test;

namespace {

/// A tree as it is described, with nothing clever in it.
struct Model {
    struct Item {
        int32_t id;
        bool is_group = false, runs = true;
        Item *group = nullptr, *reference = nullptr; ///< of a satellite only the reference
        std::vector<Item*> children, preceding, succeeding;
    };

    Model() { root = &add(0, true); }

    Item& add(int32_t id, bool is_group) {
        auto& item = items[id] = std::make_unique<Item>();
        item->id = id;
        item->is_group = is_group;
        return *item;
    }
    std::vector<Item*>& list_of(const Item& item) {
        if (!item.reference)
            return item.group->children;
        auto& in_front = item.reference->preceding;
        return std::count(in_front.begin(), in_front.end(), &item) ? in_front : item.reference->succeeding;
    }
    bool precedes(const Item& item) { return item.reference && &list_of(item) == &item.reference->preceding; }
    static Item& outermost(Item& item) { return item.reference ? outermost(*item.reference) : item; }
    static Item* group_of(Item& item) { return outermost(item).group; }
    static int depth(const Item& item) { return item.reference ? 1 + depth(*item.reference) : 0; }
    /// Whether the item is in the group, at any depth, or the group itself.
    static bool within(Item& item, const Item& group) {
        Item* const around = group_of(item);
        return &item == &group || (around && within(*around, group));
    }

    void put(Item& item, AddAction action, Item& target) {
        if (action == AddAction::preceding || action == AddAction::succeeding) {
            item.reference = &target;
            (action == AddAction::preceding ? target.preceding : target.succeeding).push_back(&item);
            return;
        }
        const bool into = goes_into(action);
        Item& beside = outermost(target);
        item.group = into ? &target : beside.group;
        auto& list = item.group->children;
        auto at = into ? (action == AddAction::tail ? list.end() : list.begin())
                       : std::find(list.begin(), list.end(), &beside) + (action == AddAction::after);
        list.insert(at, &item);
    }
    void take_out(Item& item) { std::erase(list_of(item), &item); }
    void replace(Item& item, Item& target) {
        item.group = target.group;
        item.reference = target.reference;
        std::replace(list_of(target).begin(), list_of(target).end(), &target, &item);
        forget(target);
    }
    /// Frees an item that is in no list any more.
    void forget(Item& item) {
        for (auto* list : {&item.children, &item.preceding, &item.succeeding})
            for (Item* each : std::vector(*list))
                forget(*each);
        ended.push_back(item.id);
        items.erase(item.id);
    }
    void free(int32_t id) {
        if (id == 0 || !items.count(id))
            return;
        Item& item = *items[id];
        take_out(item);
        forget(item);
    }
    void free_all(const std::vector<Item*>& all) {
        std::vector<int32_t> ids;
        for (const Item* item : all)
            ids.push_back(item->id);
        for (const int32_t id : ids)
            free(id);
    }
    void deep_free(Item& group) {
        std::vector<Item*> synths;
        for (auto& [id, item] : items)
            if (!item->is_group && group_of(*item) && within(*group_of(*item), group))
                synths.push_back(item.get());
        free_all(synths);
    }
    Item* neighbour(Item& item, bool after) {
        if (item.reference)
            return after == precedes(item) ? item.reference : nullptr;
        auto& list = item.group->children;
        const auto at = std::find(list.begin(), list.end(), &item) - list.begin() + (after ? 1 : -1);
        return at >= 0 && at < ssize(list) ? list[size_t(at)] : nullptr;
    }
    /// What ends on one side by the done actions 7, 8 and 13.
    std::vector<Item*> side(Item& item, bool after) {
        std::vector<Item*> all;
        for (Item* at = neighbour(item, after); at; at = item.reference ? nullptr : neighbour(*at, after))
            all.push_back(at);
        return all;
    }
    void act(Item& item, int action) {
        Item *const previous = neighbour(item, false), *const next = neighbour(item, true);
        Item* const other =
            action == 4 || action == 6 || action == 10 || action == 12 || action == 15 ? next : previous;
        std::vector<Item*> freed{&item};
        switch (action) {
        case 1: item.runs = false; return;
        case 3:
        case 4:
            if (other)
                freed.push_back(other);
            break;
        case 5:
        case 6:
            if (other && other->is_group)
                freed.insert(freed.end(), other->children.begin(), other->children.end());
            else if (other)
                freed.push_back(other);
            break;
        case 7:
        case 8:
        case 13:
            for (const bool after : {false, true})
                if (action == 13 || after == (action == 8))
                    for (Item* each : side(item, after))
                        freed.push_back(each);
            break;
        case 9:
        case 10:
        case 15:
            if (other)
                other->runs = action == 15;
            break;
        case 11:
        case 12:
            if (other && other->is_group)
                deep_free(*other);
            else if (other)
                freed.push_back(other);
            break;
        case 14: freed = group_of(item) == root ? std::vector<Item*>() : std::vector{group_of(item)}; break;
        default: break;
        }
        free_all(freed);
    }
    std::string shape(const std::vector<Item*>& list) const {
        std::string text;
        for (const Item* item : list) {
            const auto add = [&](const std::string& part) { text += text.empty() || part.empty() ? part : " " + part; };
            add(shape(item->preceding));
            add(std::to_string(item->id) + (item->runs ? "" : "'") +
                (item->is_group ? "(" + shape(item->children) + ")" : ""));
            add(shape(item->succeeding));
        }
        return text;
    }
    bool computed(Item& item) {
        return &item == root || (item.runs && computed(item.reference ? *item.reference : *item.group));
    }
    int count_computed() {
        int count = 0;
        for (auto& [id, item] : items)
            count += !item->is_group && computed(*item);
        return count;
    }

    std::map<int32_t, std::unique_ptr<Item>> items;
    std::vector<int32_t> ended;
    Item* root;
};

class RandomTree {
public:
    RandomTree(unsigned seed, bool native) : f_(settings_for(native)), random_(seed) {}

    void step() {
        switch (below(10)) {
        case 0:
        case 1: make(false); break;
        case 2: make(true); break;
        case 3:
        case 4: make_satellite(); break;
        case 5: move(); break;
        case 6: pause(); break;
        case 7: free(); break;
        default: act();
        }
        compare();
    }

private:
    int below(int count) { return int(random_() % unsigned(count)); }
    template <class Wanted>
    Model::Item* any(Wanted wanted) {
        std::vector<Model::Item*> found;
        for (auto& [id, item] : m_.items)
            if (wanted(*item))
                found.push_back(item.get());
        return found.empty() ? nullptr : found[size_t(below(int(found.size())))];
    }
    Model::Item* any_node() {
        return any([&](auto& item) { return &item != m_.root; });
    }
    Model::Item& any_group() {
        return *any([](auto& item) { return item.is_group; });
    }
    Model::Item* target_for(AddAction action) { return goes_into(action) ? &any_group() : any_node(); }

    void make(bool is_group, float done_action = 0) {
        const AddAction action = AddAction(below(6));
        Model::Item* target = target_for(action);
        if (!target)
            return;
        // A replaced node gives its ID to the new one at times.
        const bool same = action == AddAction::replace && below(2) == 0;
        const int32_t id = same ? target->id : ++last_;
        Group* made = nullptr;
        const Status status =
            is_group ? f_.tree.new_group(id, action, target->id, made) : f_.make(id, action, target->id, done_action);
        if (is_group && action == AddAction::replace && target->reference) {
            CHECK(status.code == Code::satellite_no_group);
            return;
        }
        REQUIRE(status.ok());
        made_ = id;
        if (action != AddAction::replace) {
            m_.put(m_.add(id, is_group), action, *target);
            return;
        }
        const int32_t replaced = target->id;
        Model::Item& item = m_.add(++last_, is_group);
        m_.replace(item, *target);
        std::erase(m_.ended, replaced); // there is no /n_end
        auto handle = m_.items.extract(item.id);
        handle.key() = item.id = id;
        m_.items.insert(std::move(handle));
    }
    void make_satellite(float done_action = 0) {
        Model::Item* target = any_node();
        if (!target || Model::depth(*target) == most_nested)
            return;
        const AddAction relation = below(2) ? AddAction::preceding : AddAction::succeeding;
        f_.synth(++last_, relation, target->id, done_action);
        m_.put(m_.add(last_, false), relation, *target);
        made_ = last_;
    }
    void move() {
        constexpr AddAction actions[] = {AddAction::head, AddAction::tail, AddAction::before, AddAction::after};
        const AddAction action = actions[below(4)];
        Model::Item *moved = any_node(), *target = target_for(action);
        if (!moved || !target)
            return;
        const Status status = move_now(f_.tree, f_.node(moved->id), action, f_.node(target->id));
        Model::Item* const into = goes_into(action) ? target : Model::group_of(*target);
        if (moved->reference) {
            CHECK(status.code == Code::satellite_moved);
        } else if (Model::within(*into, *moved)) {
            CHECK(status.code == Code::move_into_itself);
        } else {
            REQUIRE(status.ok());
            if (!goes_into(action) && &Model::outermost(*target) == moved)
                return;
            m_.take_out(*moved);
            m_.put(*moved, action, *target);
        }
    }
    void pause() {
        if (Model::Item* item = any_node())
            f_.tree.runs().set_run(f_.node(item->id), item->runs = !item->runs);
    }
    void free() {
        Model::Item* item = any_node();
        if (item && below(3)) {
            f_.tree.free(f_.node(item->id));
            m_.free(item->id);
            return;
        }
        Model::Item& group = any_group();
        if (below(2)) {
            CHECK(f_.tree.freeing().free_all_in_time(static_cast<Group&>(f_.node(group.id))));
            m_.free_all(group.children);
        } else {
            NodeWalk walk;
            CHECK(f_.tree.freeing().deep_free_in_time(static_cast<Group&>(f_.node(group.id)), walk));
            m_.deep_free(group);
        }
    }
    /// A new synth performs its done action in the middle of a block, if it is computed.
    void act() {
        const int action = 1 + below(15);
        made_ = 0;
        f_.render(64); // all others have run once
        if (below(2))
            make(false, float(action));
        else
            make_satellite(float(action));
        if (!made_)
            return;
        Model::Item& item = *m_.items[made_];
        if (below(2)) { // it is a reference, too
            const AddAction relation = below(2) ? AddAction::preceding : AddAction::succeeding;
            if (Model::depth(item) < most_nested) {
                f_.synth(++last_, relation, item.id);
                m_.put(m_.add(last_, false), relation, item);
            }
        }
        const bool computed = m_.computed(item);
        f_.render(acting_frames);
        if (computed) {
            m_.act(item, action);
        } else {
            f_.tree.free(f_.node(item.id));
            m_.free(item.id);
        }
        f_.render(64); // what has ended goes
    }
    void compare() {
        std::string ends;
        f_.pump();
        std::vector<int32_t> ended;
        for (const NodeEvent& event : f_.nodes)
            if (event.change == NodeChange::end)
                ended.push_back(event.id);
        f_.nodes.clear();
        std::sort(ended.begin(), ended.end());
        std::sort(m_.ended.begin(), m_.ended.end());
        CHECK(ended == m_.ended);
        m_.ended.clear();
        REQUIRE(f_.shape() == m_.shape(m_.root->children));
        CHECK(f_.tree.counts().synths() + f_.tree.counts().groups() == int(m_.items.size()));
        CHECK(f_.computed() == m_.count_computed());
        REQUIRE(f_.shape() == m_.shape(m_.root->children));
    }

    SatelliteFixture f_;
    Model m_;
    std::mt19937 random_;
    int32_t last_ = 0, made_ = 0; ///< IDs: the last of all, and of the node that the last step made
};

} // namespace

TEST_CASE("random trees with satellites are what a plain description makes of them") {
    for (unsigned seed = 0; seed < 60; ++seed) {
        CAPTURE(seed);
        RandomTree tree(seed, seed % 2);
        for (int i = 0; i < 120; ++i) {
            CAPTURE(i);
            tree.step();
        }
    }
}
