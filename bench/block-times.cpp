// SPDX-License-Identifier: GPL-3.0-or-later
// How long each block takes that the engine alone computes, in real time, in cycles of one block of 64 frames at 48
// kHz: what PipeWire's data loop would wait for. Groups of synths play one after the other. See usage().
#include "cycle-times.hpp"
#include "stage.hpp"

#include "engine/schedule/help-policy.hpp"

#include <cstdlib>
#include <memory>
#include <random>
#include <string_view>
#include <sys/resource.h>

using namespace scs;
using namespace scs::bench;

namespace {

[[noreturn]] void usage() {
    std::puts(
        "block-times [--threads N] [--cycles N] [--warm N] [--paced] [--waking-load PART] [--edit] [--out FILE] "
        "GROUP...\n"
        "block-times --bare NSEC [--cycles N] [--paced] [--out FILE]\n"
        "\n"
        "  GROUP       COUNT:FILE:together or COUNT:FILE:apart: so many synths of a SynthDef that play to bus 0, or\n"
        "              each to a bus of its own\n"
        "  --cycles N  that are measured (100000), after --warm N (2000)\n"
        "  --paced     at the pace of real time; otherwise back to back\n"
        "  --waking-load PART\n"
        "              from which load of the walks on helpers are asked: 0.1 unless given\n"
        "  --edit      before each cycle a synth of the first group is freed and another one made\n"
        "  --bare NSEC no engine, but some arithmetic of about that length\n"
        "  --out FILE  the ns of each cycle, 32-bit numbers");
    std::exit(2);
}

struct GroupOf {
    int synths = 0;
    std::string file;
    bool together = true;
};

GroupOf group_from(const std::string& text) {
    const size_t first = text.find(':'), last = text.rfind(':');
    if (first == last)
        usage();
    const std::string where = text.substr(last + 1);
    if (where != "together" && where != "apart")
        usage();
    return {std::atoi(text.c_str()), text.substr(first + 1, last - first - 1), where == "together"};
}

struct Options {
    int threads = 1;
    HelpPolicy help;
    size_t cycles = 100'000;
    int warm = 2000;
    bool paced = false, edit = false;
    int64_t bare = 0; // ns
    std::string out;
    std::vector<GroupOf> groups;
};

Options options_from(int count, char** args) {
    Options found;
    for (int i = 1; i < count; ++i) {
        const std::string_view option = args[i];
        const auto value = [&]() -> const char* {
            if (++i == count)
                usage();
            return args[i];
        };
        if (option == "--threads")
            found.threads = std::atoi(value());
        else if (option == "--cycles")
            found.cycles = size_t(std::max(1, std::atoi(value())));
        else if (option == "--warm")
            found.warm = std::atoi(value());
        else if (option == "--paced")
            found.paced = true;
        else if (option == "--waking-load")
            found.help.waking_load = std::atof(value());
        else if (option == "--edit")
            found.edit = true;
        else if (option == "--bare")
            found.bare = std::atoll(value());
        else if (option == "--out")
            found.out = value();
        else if (option.substr(0, 2) == "--")
            usage();
        else
            found.groups.push_back(group_from(args[i]));
    }
    if (found.groups.empty() == !found.bare)
        usage();
    return found;
}

/// The groups of a graph, one after the other.
class Graph {
public:
    /// The policy must live longer.
    Graph(int threads, const HelpPolicy& help, const std::vector<GroupOf>& groups) : stage(roomy(threads, &help)) {
        int32_t id = 1000;
        for (const GroupOf& group : groups) {
            definitions_.push_back(stage.load(group.file));
            const int32_t target = 10 + int32_t(definitions_.size());
            (void)stage.group(target);
            for (int i = 0; i < group.synths; ++i, ++id)
                add(*definitions_.back(), id, AddAction::tail, target, group.together ? 0 : id - 1000);
        }
        synths_ = groups[0].synths;
        together_ = groups[0].together;
        next_ = id;
        for (int32_t i = 0; i < synths_; ++i)
            ids_.push_back(1000 + i);
    }
    void edit() {
        const auto place = size_t(random_() % ids_.size());
        add(*definitions_[0], next_, AddAction::replace, ids_[place], together_ ? 0 : int(place));
        ids_[place] = next_++;
    }

    Stage stage;

private:
    void add(Definition& definition, int32_t id, AddAction action, int32_t target, int bus) {
        Synth& made = stage.synth(definition, id, action, target);
        stage.set(made, "freq", 100.f + float(id % 1000));
        stage.set(made, "out", float(bus));
    }

    std::vector<Definition*> definitions_;
    std::vector<int32_t> ids_;
    int synths_;
    bool together_;
    int32_t next_;
    std::minstd_rand random_{1};
};

/// How often the process's threads have given up a processor or lost it.
struct Switches {
    explicit Switches(int thread) {
        rusage used;
        getrusage(thread, &used);
        count = used.ru_nvcsw;
        lost = used.ru_nivcsw;
    }
    long count, lost;
};

} // namespace

int main(int argc, char** argv) {
    const Options options = options_from(argc, argv);
    const std::unique_ptr<Graph> graph =
        options.bare ? nullptr : std::make_unique<Graph>(options.threads, options.help, options.groups);
    if (graph) {
        graph->stage.cycles(options.warm);
        if (options.warm && !graph->stage.sounds()) {
            std::fputs("nothing is heard\n", stderr);
            return 1;
        }
    }
    CycleTimes times(options.cycles, options.paced ? int64_t(frames / rate * second) : 0);
    uint64_t result = 1;
    const Switches all(RUSAGE_SELF), loop(RUSAGE_THREAD);
    while (!times.complete()) {
        times.wait();
        times.measure([&] {
            if (!graph)
                result = steps(result, options.bare);
            else if (options.edit)
                graph->edit();
            if (graph)
                (void)graph->stage.cycle();
        });
    }
    const Switches all_then(RUSAGE_SELF), loop_then(RUSAGE_THREAD);
    const long of_loop = loop_then.count - loop.count, lost_of_loop = loop_then.lost - loop.lost;
    std::printf(
        "data loop: %ld context switches, %ld of them forced\nhelpers: %ld context switches, %ld of them forced\n",
        of_loop + lost_of_loop, lost_of_loop,
        all_then.count - all.count + all_then.lost - all.lost - of_loop - lost_of_loop,
        all_then.lost - all.lost - lost_of_loop);
    if (graph)
        std::printf("computed by helpers: %llu\n",
                    static_cast<unsigned long long>(graph->stage.engine->status().computed_ahead.load()));
    if (!options.out.empty() && !times.write(options.out)) {
        std::fprintf(stderr, "cannot write %s\n", options.out.c_str());
        return 1;
    }
    return result ? 0 : 1;
}
