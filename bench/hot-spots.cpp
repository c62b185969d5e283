// SPDX-License-Identifier: GPL-3.0-or-later
// What changes of the tree cost the data loop, in the graph that T. Blechmann's thesis on supernova measures hot spots
// with (listing 5.2): in a parallel group, a parallel group of 32 small synths and then one of 4 big ones; beside these
// a group of 4 small synths and then 2 big ones. It is made one by one, and then synths are moved.
//
//     hot-spots SMALL BIG [ROUNDS]
//
// SynthDef files. For one thread and two, prints the mean, the median, the 99.9th percentile and the worst, in ns, of
//   creation  a new synth, and what its first block takes beyond those that follow
//   change    of the order: a synth is moved
//   order     what the first block after a move takes beyond those that follow
// The clock is real time's, so whatever interrupts the data loop is in the worst.
#include "stage.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

using namespace scs;
using namespace scs::bench;

namespace {

constexpr int settling = 4; ///< blocks after a change; the last half of them tell what one takes without any

struct Times {
    std::vector<int64_t> nsec;

    void print(int threads, const char* what) {
        std::sort(nsec.begin(), nsec.end());
        const double mean = double(std::accumulate(nsec.begin(), nsec.end(), int64_t(0))) / double(nsec.size());
        std::printf("%d threads, %-17s mean %6.0f  median %6ld  99.9 %% %7ld  worst %8ld ns\n", threads, what, mean,
                    long(nsec[nsec.size() / 2]), long(nsec[nsec.size() * 999 / 1000]), long(nsec.back()));
    }
};

class HotSpots {
public:
    HotSpots(int threads, const char* small, const char* big)
        : threads_(threads), stage_(roomy(threads)), small_(*stage_.load(small)), big_(*stage_.load(big)) {}

    void round() {
        make();
        for (int i = 0; i < 50; ++i)
            move();
        stage_.engine->tree().free(*top_);
        stage_.cycles(settling);
    }
    void print() {
        created_small_.print(threads_, "creation, small:");
        created_big_.print(threads_, "creation, big:");
        changed_.print(threads_, "change:");
        ordered_.print(threads_, "order:");
    }

private:
    struct Member {
        Synth* synth;
        int group;
    };

    Group& group(Group* above, bool parallel) {
        Group* made = nullptr;
        const Status done =
            stage_.engine->tree().new_group(next_++, AddAction::tail, above ? above->id : 0, made, parallel);
        if (done.failed())
            throw std::runtime_error("no new group");
        return *made;
    }
    void make() {
        members_.clear();
        top_ = &group(nullptr, true);
        fill(group(top_, true), small_, 32, created_small_);
        fill(group(top_, true), big_, 4, created_big_);
        Group& serial = group(top_, false);
        fill(serial, small_, 4, created_small_);
        fill(serial, big_, 2, created_big_);
    }
    void fill(Group& group, Definition& definition, int count, Times& times) {
        for (int i = 0; i < count; ++i) {
            const int64_t began = now();
            Synth& made = stage_.synth(definition, next_++, AddAction::tail, group.id);
            times.nsec.push_back(now() - began + beyond());
            members_.push_back({&made, group.id});
        }
    }
    /// What a block takes beyond those that follow.
    int64_t beyond() {
        const int64_t first = stage_.cycle();
        std::array<int64_t, settling> after;
        for (int64_t& each : after)
            each = stage_.cycle();
        return first - *std::min_element(after.begin() + settling / 2, after.end());
    }
    void move() {
        const Member member = members_[random_() % members_.size()];
        std::vector<Synth*> others;
        for (const Member& each : members_)
            if (each.group == member.group && each.synth != member.synth)
                others.push_back(each.synth);
        Node* above = nullptr;
        Status status;
        const int64_t began = now();
        (void)stage_.engine->tree().move_in_time(*member.synth, AddAction::before, *others[random_() % others.size()],
                                                 above, status);
        changed_.nsec.push_back(now() - began);
        ordered_.nsec.push_back(beyond());
    }

    const int threads_;
    Stage stage_;
    Definition &small_, &big_;
    Group* top_ = nullptr;
    std::vector<Member> members_;
    int32_t next_ = 1000;
    std::minstd_rand random_{1};
    Times created_small_, created_big_, changed_, ordered_;
};

} // namespace

int main(int argc, char** argv) {
    if (argc < 3 || argc > 4) {
        std::fprintf(stderr, "hot-spots SMALL BIG [ROUNDS]\n");
        return 2;
    }
    const int rounds = argc > 3 ? std::max(1, std::atoi(argv[3])) : 200;
    std::vector<std::unique_ptr<HotSpots>> all;
    for (const int threads : {1, 2})
        all.push_back(std::make_unique<HotSpots>(threads, argv[1], argv[2]));
    for (int i = 0; i < rounds; ++i)
        for (auto& each : all)
            each->round();
    for (auto& each : all)
        each->print();
}
