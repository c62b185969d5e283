// SPDX-License-Identifier: GPL-3.0-or-later
// What a new synth costs where helpers compute voices ahead: their list is planned anew. Engines with one thread and
// with two play the same; before each fourth of their cycles a synth comes to a random place among the others, and
// another one is freed. What is planned is never begun (HelpPolicy), so that the time of the second engine beyond
// that of the first is what planning takes. It is the data loop's processor time, so that little of what else the
// machine does is in it.
//
//     edit-times SYNTHDEF SYNTHS EDITS [THREADS]
//
// THREADS: only the engine with so many. Prints, for each engine, ns for an edit, and for as many cycles without any.
#include "stage.hpp"

#include "engine/schedule/help-policy.hpp"

#include <cstdio>
#include <cstdlib>
#include <limits>
#include <memory>
#include <numeric>
#include <random>

using namespace scs;
using namespace scs::bench;

namespace {

constexpr int cycles_an_edit = 4; // the newcomer is lone in the first, and in a batch in the last
constexpr int in_a_row = 50;      // of one engine, then of the other one

constexpr HelpPolicy planned{.waking_load = 0,
                             .longest_wait = INT64_MAX,
                             .fewest_ops = 1,
                             .least_work = std::numeric_limits<size_t>::max(),
                             .least_at_once = std::numeric_limits<size_t>::max()};

class Edited {
public:
    Edited(const std::string& file, int synths, int threads)
        : stage_(roomy(threads, &planned)), definition_(stage_.load(file)) {
        (void)stage_.group(1);
        for (int i = 0; i < synths; ++i)
            add(AddAction::tail, 1);
        stage_.cycles(1000);
        if (!stage_.sounds())
            throw std::runtime_error("nothing is heard");
    }
    void edit() {
        add(AddAction::before, ids_[random_() % ids_.size()]);
        const size_t leaving = random_() % ids_.size();
        stage_.engine->tree().free(*stage_.engine->tree().find(ids_[leaving]));
        ids_[leaving] = ids_.back();
        ids_.pop_back();
    }
    /// What that and the cycles after it take, ns of processor time.
    int64_t play(bool edited) {
        const int64_t began = now(CLOCK_THREAD_CPUTIME_ID);
        if (edited)
            edit();
        stage_.cycles(cycles_an_edit);
        return now(CLOCK_THREAD_CPUTIME_ID) - began;
    }

private:
    void add(AddAction action, int32_t target) {
        const int32_t id = next_++;
        stage_.set(stage_.synth(*definition_, id, action, target), "freq", 100.f + float(id % 5000));
        ids_.push_back(id);
    }

    Stage stage_;
    Definition* definition_;
    std::vector<int32_t> ids_;
    std::minstd_rand random_{1};
    int32_t next_ = 1000;
};

/// What was measured, ns.
struct Sum {
    std::vector<double> rows; ///< the means of some in a row

    double mean() const { return std::accumulate(rows.begin(), rows.end(), 0.) / double(rows.size()); }
    double median() const {
        std::vector<double> sorted = rows;
        std::sort(sorted.begin(), sorted.end());
        return sorted[sorted.size() / 2];
    }
};

} // namespace

int main(int argc, char** argv) {
    if (argc < 4 || argc > 5) {
        std::fprintf(stderr, "edit-times SYNTHDEF SYNTHS EDITS [THREADS]\n");
        return 2;
    }
    const int synths = std::atoi(argv[2]), edits = std::max(1, std::atoi(argv[3]) / in_a_row) * in_a_row;
    struct Engine {
        int threads;
        std::unique_ptr<Edited> edited;
        Sum sums[2]; ///< without edits, and with them
    };
    std::vector<Engine> engines;
    for (const int threads : {1, 2})
        if (argc == 4 || std::atoi(argv[4]) == threads)
            engines.push_back({threads, std::make_unique<Edited>(argv[1], synths, threads), {}});
    const auto play = [&](bool edited, int count) {
        for (int done = 0; done < count; done += in_a_row)
            for (Engine& engine : engines) {
                int64_t nsec = 0;
                for (int i = 0; i < in_a_row; ++i)
                    nsec += engine.edited->play(edited);
                engine.sums[edited].rows.push_back(double(nsec) / in_a_row);
            }
    };
    // After edits, batches are put together again for a while: so what doesn't change comes first.
    play(false, std::max(in_a_row, edits / 10));
    play(true, edits);
    for (const Engine& engine : engines)
        for (const bool edited : {false, true})
            std::printf("%d threads, %s: mean %.0f ns, median %.0f ns\n", engine.threads, edited ? "edits" : "still",
                        engine.sums[edited].mean(), engine.sums[edited].median());
    if (engines.size() < 2)
        return 0;
    const auto beyond = [&](auto of) {
        return of(engines[1].sums[1]) - of(engines[1].sums[0]) - of(engines[0].sums[1]) + of(engines[0].sums[0]);
    };
    std::printf("planning: mean %.0f ns, median %.0f ns\n", beyond([](const Sum& sum) { return sum.mean(); }),
                beyond([](const Sum& sum) { return sum.median(); }));
}
