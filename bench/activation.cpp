// SPDX-License-Identifier: GPL-3.0-or-later
// What it takes that a second group of tasks waits for a first one: rounds of two groups of that many tasks, the second
// after a gate that opens when the first is done, and rounds of as many tasks without a gate, by an owner and one
// helper. Both kinds of rounds alternate.
//
//     activation ROUNDS STEPS JOBS...
//
// STEPS: what a task does, each step about a nanosecond; with 0 it does nothing, and the helper comes too late. Prints,
// for each number of tasks of a group, the median of the rounds' ns in both cases.
#include "stage.hpp"

#include "engine/schedule/helpers.hpp"

#include <cstdio>
#include <cstdlib>

using namespace scs;

namespace {

/// An owner that comes to its tasks in order, and its helpers.
class Crew {
public:
    Crew(size_t most, int threads, int64_t steps_a_task)
        : graph_(most, size_t(threads)),
          results_(most),
          steps_(steps_a_task),
          helpers_(
              graph_,
              [](void* self, size_t thread, TaskGraph::Task task) noexcept {
                  static_cast<Crew*>(self)->run(thread, task.chain);
              },
              [](void*, size_t) noexcept {}, this, Helpers::Settings{.threads = threads - 1},
              std::make_shared<HelperPool>(ThreadMaker::plain(), false)) {}
    ~Crew() { helpers_.end_cycle(); }

    /// How long a round takes, ns. `waits`: those of the second half are begun only when the first half is done.
    int64_t round(size_t tasks, bool waits) {
        helpers_.begin_cycle(); // wakes a helper that has lost its processor for so long that it sleeps
        const int64_t began = bench::now();
        for (size_t task = tasks / 2; waits && task < tasks; ++task)
            graph_.gate(task, tasks / 2 + 1);
        graph_.open_strands(tasks, tasks / 2);
        helpers_.begin_round();
        for (size_t task = 0; task < tasks; ++task) {
            helpers_.commit(task + 1);
            reach(task);
        }
        return bench::now() - began;
    }
    /// How many tasks the helpers have done since the last call.
    size_t by_helpers() { return std::exchange(by_helpers_, 0); }

private:
    struct alignas(cache_line) Result {
        uint64_t value = 0;
    };
    void run(size_t thread, size_t task) noexcept {
        results_[task].value = bench::steps(results_[task].value, steps_);
        if (thread)
            ++by_helpers_; // of one helper, read when it has nothing to do
    }
    void reach(size_t task) {
        while (!helpers_.wait_for(task)) {
        }
        if (!graph_.done(task))
            run(0, task);
    }

    TaskGraph graph_;
    std::vector<Result> results_;
    int64_t steps_;
    size_t by_helpers_ = 0;
    Helpers helpers_;
};

double middle(std::vector<int64_t>& values) {
    std::sort(values.begin(), values.end());
    return double(values[values.size() / 2]);
}

} // namespace

int main(int argc, char** argv) {
    if (argc < 4) {
        std::fprintf(stderr, "activation ROUNDS STEPS JOBS...\n");
        return 2;
    }
    const int rounds = std::max(1, std::atoi(argv[1]));
    for (int i = 3; i < argc; ++i) {
        const auto tasks = size_t(std::max(1, std::atoi(argv[i])));
        Crew crew(2 * tasks, 2, std::atoll(argv[2]));
        std::vector<int64_t> nsec[2];
        double helped[2] = {};
        for (int round = 0; round < rounds; ++round)
            for (const bool waits : {false, true}) {
                nsec[waits].push_back(crew.round(2 * tasks, waits));
                helped[waits] += double(crew.by_helpers());
            }
        std::printf("2 groups of %zu: without gates %.0f ns, %.0f %% by the helper; with gates %.0f ns, %.0f %%\n",
                    tasks, middle(nsec[0]), 50 * helped[0] / rounds / double(tasks), middle(nsec[1]),
                    50 * helped[1] / rounds / double(tasks));
    }
}
