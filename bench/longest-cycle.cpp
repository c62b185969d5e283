// SPDX-License-Identifier: GPL-3.0-or-later
// The longest cycle of the node, as it is installed, while it is sent the worst that a client can send: the processor
// time of process(), as a percentage of the cycle's duration. The engine's clock is that processor time, too, so that
// what else the machine does changes little. See docs/safety.md.
#include "stand.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

using namespace scs::bench;

namespace {

struct Case {
    const char* name;
    std::function<void(Stand&)> prepare;
    std::function<void(Stand&)> act; ///< sends; what it sends is settled
    bool native = true;
};

constexpr int many = 100'000;
constexpr size_t packet = 65000, huge = 4'000'000; ///< bytes of a datagram, and of a packet by TCP

/// `values` again and again, so that the message has at most that many bytes.
std::vector<OscArg> filled(std::vector<OscArg> args, const std::vector<OscArg>& values, size_t bytes) {
    const size_t each = values.size() * 5; // with the tag
    for (size_t used = 64; used + each <= bytes; used += each)
        args.insert(args.end(), values.begin(), values.end());
    return args;
}

std::vector<OscArg> ids(std::vector<OscArg> args, int first, int count, const std::vector<OscArg>& after = {}) {
    for (int i = 0; i < count; ++i) {
        args.emplace_back(first + i);
        args.insert(args.end(), after.begin(), after.end());
    }
    return args;
}

void flat(Stand& s) {
    s.send("/g_new", {1, 0, 0});
    s.groups(2, many, 1);
}
void nested(Stand& s) {
    s.groups(1, many, 0, true);
}
/// Synth 3, in a group that is paused.
void satellites(Stand& s) {
    s.send("/g_new", {1, 0, 0, 2, 0, 0});
    s.send("/n_run", {1, 0, 2, 0});
    s.send("/s_new", {"default", 3, 0, 1});
    for (int i = 0; i < many; ++i) {
        s.send("/sat_new", {"default", 10 + i, i % 2, 3});
        if (i % 2000 == 1999)
            s.settle();
    }
    s.settle();
}
void nothing(Stand&) {}

void flood(Stand& s) {
    // What a voice costs, by cycles without a limit.
    constexpr int probe = 200;
    s.send("/g_new", {1, 0, 0});
    s.synths("default", 1000, probe, 1);
    int64_t least = std::numeric_limits<int64_t>::max();
    for (int i = 0; i < 20; ++i) {
        s.run(1e-6, false);
        least = std::min(least, s.spent());
    }
    const int count = std::min(int(10 * double(s.duration()) / (double(least) / probe)), 150'000);
    for (int i = 0; i < count; ++i)
        s.send("/s_new", {"default", 10'000 + i, 1, 1, "amp", 1e-7f});
    s.settle(true);
    s.run(2, true);
}

/// A SynthDef of many units that feed each other.
Bytes large_definition(const std::string& name, int units, bool delays = false) {
    std::vector<DefUnit> chain;
    for (int i = 0; i < units; ++i) {
        const int before = i ? i - 1 : -1;
        if (delays && i)
            chain.push_back({"DelayN", {{before, 0}, {-1, 0}, {-1, 0}}});
        else
            chain.push_back({"SinOsc", {{-1, float(100 + i)}, {before, 0}}});
    }
    chain.push_back({"Out", {{-1, 0}, {units - 1, 0}}, false});
    return synthdef_file(name, chain);
}
void large_synth(Stand& s) {
    s.send("/s_new", {"large", 1000, 0, 0});
    s.settle(true);
    s.run(0.5, true);
}
void free_large_synth(Stand& s) {
    if (!s.has(1000))
        throw std::runtime_error("there is no large synth: " + s.log());
    s.send("/n_free", {1000});
    s.run(0.2, true);
}
void some_large_synths(Stand& s) {
    for (int i = 0; i < 300; ++i)
        s.send("/s_new", {"large", 1000 + i, 0, 0});
    s.settle(true);
    s.run(0.5, true);
}

const std::vector<Case> cases = {
    {"nothing", nothing, [](Stand& s) { s.run(1, true); }},
    {"/n_set, 64 kB, 12 times, 1000 synths", [](Stand& s) { s.paused_synths(1000); },
     [](Stand& s) {
         for (int i = 0; i < 12; ++i)
             s.send("/n_set", filled({1}, {1, 440.f}, packet));
     }},
    {"/n_set by a name of 64 kB, 1000 synths", [](Stand& s) { s.paused_synths(1000); },
     [](Stand& s) {
         s.send("/n_set", {1, std::string(packet, 'x'), 1.f});
     }},
    {"/n_set of a name of 4 MB, 20 synths", [](Stand& s) { s.paused_synths(20); },
     [](Stand& s) {
         s.send("/n_set", {1, std::string(huge, 'x'), 1.f});
     }},
    {"/n_set of an array of 4 MB, 3 synths", [](Stand& s) { s.paused_synths(3); },
     [](Stand& s) {
         s.send("/n_set", {1, 0, Floats(huge / 5)});
     }},
    {"/n_setn of 4 MB, 3 synths", [](Stand& s) { s.paused_synths(3); },
     [](Stand& s) {
         s.send("/n_setn", filled({1, 0, int(huge / 5)}, {1.f}, huge));
     }},
    {"/n_fill, /n_mapn of 60,000 controls, 20 synths",
     [](Stand& s) {
         s.define(synthdef_file("wide", {{"DC", {{-1, 0}}}}, 60'000));
         s.send("/g_new", {1, 0, 0});
         s.send("/n_run", {1, 0});
         s.synths("wide", 1000, 20, 1);
     },
     [](Stand& s) {
         s.send("/n_fill", {1, 0, 60'000, 1.f});
         s.send("/n_mapn", {1, 0, 0, 60'000});
     }},
    {"/s_new of 60,000 controls, 100 times",
     [](Stand& s) {
         s.define(synthdef_file("wide", {{"DC", {{-1, 0}}}}, 60'000));
     },
     [](Stand& s) {
         for (int i = 0; i < 100; ++i)
             s.send("/s_new", {"wide", 1000 + i, 0, 0});
     }},
    {"/n_set, 100,000 groups without synths", nested,
     [](Stand& s) {
         s.send("/n_set", {0, 0, 1.f});
     }},
    {"/n_run, 64 kB, one group of 1000 synths", [](Stand& s) { s.paused_synths(1000); },
     [](Stand& s) {
         s.send("/n_run", filled({}, {1, 1, 1, 0}, packet));
     }},
    {"/g_freeAll, 100,000 groups", flat, [](Stand& s) { s.send("/g_freeAll", {1}); }},
    {"/g_freeAll, 100,000 paused synths", [](Stand& s) { s.paused_synths(many); },
     [](Stand& s) { s.send("/g_freeAll", {1}); }},
    {"/g_deepFree, 100,000 nested groups", nested, [](Stand& s) { s.send("/g_deepFree", {0}); }},
    {"/g_freeAll, 100,000 nested groups", nested, [](Stand& s) { s.send("/g_freeAll", {0}); }},
    {"/s_new in place of 100,000 groups", flat,
     [](Stand& s) {
         s.send("/s_new", {"default", 1, 4, 1});
     }},
    {"a done action that frees 100,000 groups",
     [](Stand& s) {
         flat(s);
         s.define(synthdef_file("end", {{"Line", {{-1, 0}, {-1, 0}, {-1, 0.01f}, {-1, 5}}}}));
     },
     [](Stand& s) {
         s.send("/s_new", {"end", 500'000, 3, 1});
         s.settle(true);
         s.run(0.5, true);
     }},
    {"a done action that ends it and all of its 100,000 neighbours",
     [](Stand& s) {
         s.paused_synths(many);
         s.define(synthdef_file("end", {{"Line", {{-1, 0}, {-1, 0}, {-1, 0.01f}, {-1, 13}}}}));
     },
     [](Stand& s) {
         s.send("/s_new", {"end", 500'000, 0, 1});
         s.send("/n_run", {1, 1});
         s.settle(true);
         s.run(0.5, true);
     }},
    {"/n_free of a group of 100,000 groups", flat, [](Stand& s) { s.send("/n_free", {1}); }},
    {"/n_free of 10,000", flat, [](Stand& s) { s.send("/n_free", ids({}, 2, 10'000)); }},
    {"/n_free by 4 MB of steps from 0", flat,
     [](Stand& s) {
         s.send("/n_free", {"ht" + std::string(huge, 'p'), 0});
     }},
    {"/g_queryTree, 100,000 groups", flat,
     [](Stand& s) {
         s.send("/g_queryTree", {0, 1});
     }},
    {"/g_queryTree, 100,000 nested groups", nested,
     [](Stand& s) {
         s.send("/g_queryTree", {0, 1});
     }},
    {"/g_dumpTree, 100,000 groups", flat,
     [](Stand& s) {
         s.send("/g_dumpTree", {0, 1});
     }},
    {"/g_dumpTree, 100,000 nested groups", nested,
     [](Stand& s) {
         s.send("/g_dumpTree", {0, 1});
     }},
    {"/g_dumpTree, 100,000 synths with controls", [](Stand& s) { s.paused_synths(many); },
     [](Stand& s) {
         s.send("/g_dumpTree", {0, 1});
     }},
    {"/n_trace, 64 kB, one group of 1000 synths", [](Stand& s) { s.paused_synths(1000); },
     [](Stand& s) { s.send("/n_trace", filled({}, {1}, packet)); }},
    {"/n_query of 10,000", flat, [](Stand& s) { s.send("/n_query", ids({}, 2, 10'000)); }},
    {"/n_list, /d_list, /b_list, /bind_list, 100 times, 10,000 synths", [](Stand& s) { s.paused_synths(10'000); },
     [](Stand& s) {
         for (int i = 0; i < 100; ++i)
             for (const char* list : {"/n_list", "/d_list", "/b_list", "/bind_list"})
                 s.send(list);
     }},
    {"/n_status, /s_query of 10,000", [](Stand& s) { s.paused_synths(10'000); },
     [](Stand& s) {
         for (const char* query : {"/n_status", "/s_query"})
             s.send(query, ids({}, 1000, 10'000));
     }},
    {"/n_order of 10,000", flat,
     [](Stand& s) {
         s.send("/n_order", ids({1, 1}, 2, 10'000));
     }},
    {"/n_order of 10,000 that aren't there", flat,
     [](Stand& s) {
         s.send("/n_order", ids({1, 1}, 500'000, 10'000));
     }},
    {"/n_before, 4 MB, the second half not there", flat,
     [](Stand& s) {
         s.send("/n_before", ids(filled({}, {5, 6}, huge / 2), 500'000, int(huge) / 20, {6}));
     }},
    {"/g_head of 10,000, 100,000 nested groups", nested,
     [](Stand& s) { s.send("/g_head", ids({}, many - 10'000, 10'000, {1})); }},
    {"/g_head of the first into the last of 100,000 nested groups, 10 times", nested,
     [](Stand& s) {
         for (int i = 0; i < 10; ++i)
             s.send("/g_head", {many, 1});
     }},
    {"/n_free of a synth with 100,000 satellites", satellites, [](Stand& s) { s.send("/n_free", {3}); }},
    {"/n_run, /g_head, 1000 times, a synth with 100,000 satellites", satellites,
     [](Stand& s) {
         for (int i = 0; i < 1000; ++i) {
             s.send("/n_run", {3, i % 2});
             s.send("/g_head", {1 + i % 2, 3});
         }
     }},
    {"/g_new of 100,000 that are there", flat,
     [](Stand& s) {
         s.send("/g_new", ids({}, 2, many, {1, 1}));
     }},
    {"/c_set, /c_setn, 4 MB", nothing,
     [](Stand& s) {
         s.send("/c_set", filled({}, {5, 1.f}, huge));
         s.send("/c_setn", filled({0, 16384}, {1.f}, huge));
     }},
    {"/c_fill of all buses, 4 MB", nothing,
     [](Stand& s) {
         s.send("/c_fill", filled({}, {0, 16384, 1.f}, packet));
     }},
    {"/c_get, /c_getn, 64 kB", nothing,
     [](Stand& s) {
         for (int i = 0; i < 20; ++i) {
             s.send("/c_get", filled({}, {5}, packet));
             s.send("/c_getn", filled({}, {0, 500}, 100));
             s.send("/c_getn", filled({}, {0, 0}, packet));
         }
     }},
    {"/c_get, /c_getn, 4 MB", nothing,
     [](Stand& s) {
         s.send("/c_get", filled({}, {5}, huge));
         s.send("/c_getn", filled({}, {0, 0}, huge));
     }},
    {"/b_set, /b_setn, 4 MB",
     [](Stand& s) {
         s.send("/b_alloc", {0, int(huge)});
     },
     [](Stand& s) {
         s.send("/b_set", filled({0}, {5, 1.f}, huge));
         s.send("/b_setn", filled({0, 0, int(huge)}, {1.f}, huge));
         s.send("/b_setn", filled({0}, {0, 0}, huge));
     }},
    {"/b_fill, 4 MB of small ranges",
     [](Stand& s) {
         s.send("/b_alloc", {0, int(huge)});
     },
     [](Stand& s) {
         s.send("/b_fill", filled({0}, {5, 0, 1.f}, huge));
         s.send("/b_fill", filled({0}, {5, 1, 1.f}, 64'000 * 15));
         s.send("/b_fill", {0, 0, 65536, 1.f});
     }},
    {"/b_query, /b_get, /b_getn, 4 MB",
     [](Stand& s) {
         s.send("/b_alloc", {0, int(huge)});
     },
     [](Stand& s) {
         s.send("/b_query", filled({}, {0}, packet / 4));
         s.send("/b_query", filled({}, {0}, huge));
         s.send("/b_get", filled({0}, {5}, huge));
         s.send("/b_getn", filled({0}, {0, 0}, huge));
     }},
    {"/b_alloc, /b_free of 16 MB, 20 times", nothing,
     [](Stand& s) {
         for (int i = 0; i < 20; ++i) {
             s.send("/b_alloc", {0, int(huge)});
             s.send("/b_free", {0});
         }
     }},
    {"8000 bundles due at once", nothing,
     [](Stand& s) {
         const scs::NtpTime due = ntp_in(1.5);
         for (int i = 0; i < 8000; ++i)
             s.send(osc_bundle(due, {osc_message("/c_set", {i, 1.f})}));
         s.settle(true);
         s.wait(2, true);
     }},
    {"8000 bundles that are late", nothing,
     [](Stand& s) {
         const scs::NtpTime due = ntp_in(-1);
         for (int i = 0; i < 8000; ++i)
             s.send(osc_bundle(due, {osc_message("/c_set", {i, 1.f})}));
     }},
    {"a bundle of 60,000 messages", nothing,
     [](Stand& s) {
         s.send(osc_bundle(1, std::vector<Bytes>(60'000, osc_message("/c_set", {5, 1.f}))));
     }},
    {"a bundle of 60,000 messages that fail", nothing,
     [](Stand& s) {
         s.send(osc_bundle(1, std::vector<Bytes>(60'000, osc_message("/n_set", {5, 1, 1.f}))));
     }},
    {"/clearSched of 8000 bundles",
     [](Stand& s) {
         for (int i = 0; i < 8000; ++i)
             s.send(osc_bundle(ntp_in(3600), {osc_message("/c_set", {i, 1.f})}));
     },
     [](Stand& s) { s.send("/clearSched"); }},
    {"/d_freeAll of 1000",
     [](Stand& s) {
         for (int i = 0; i < 1000; ++i)
             s.send("/d_recv", {synthdef_file("d" + std::to_string(i), {{"DC", {{-1, 0}}}})});
     },
     [](Stand& s) { s.send("/d_freeAll"); }},
    {"/d_free by names of 64 kB, 30 times", nothing,
     [](Stand& s) {
         for (int i = 0; i < 30; ++i)
             s.send("/d_free", {std::string(packet, 'x')});
     }},
    {"/s_new by a name of 64 kB of dots", nothing,
     [](Stand& s) {
         s.send("/s_new", {std::string(packet, '.'), 1000, 0, 0});
     }},
    {"/s_noid of 10,000", [](Stand& s) { s.paused_synths(10'000); },
     [](Stand& s) { s.send("/s_noid", ids({}, 1000, 10'000)); }},
    {"ten times too many synths, native", nothing, flood},
    {"ten times too many synths, plugins", nothing, flood, false},
    {"one synth of 20,000 units, native", [](Stand& s) { s.define(large_definition("large", 20'000)); }, large_synth},
    {"one synth of 20,000 units, plugins", [](Stand& s) { s.define(large_definition("large", 20'000)); }, large_synth,
     false},
    {"one synth of 20,000 units freed, plugins",
     [](Stand& s) {
         s.define(large_definition("large", 20'000));
         large_synth(s);
     },
     free_large_synth, false},
    {"one synth of 20,000 delay lines freed, plugins",
     [](Stand& s) {
         s.define(large_definition("large", 20'000, true));
         large_synth(s);
     },
     free_large_synth, false},
    {"synths whose start draws 300,000 numbers, native",
     [](Stand& s) {
         s.define(
             synthdef_file("draws", std::vector<DefUnit>(300, {"NRand", {{-1, 0}, {-1, 1}, {-1, 1024}}, true, 0})));
     },
     [](Stand& s) {
         for (int i = 0; i < 20; ++i)
             s.send("/s_new", {"draws", 1000 + i, 0, 0});
     }},
    {"300 synths of 2000 units, native", [](Stand& s) { s.define(large_definition("large", 2000)); },
     some_large_synths},
    {"300 synths of 2000 units, plugins", [](Stand& s) { s.define(large_definition("large", 2000)); },
     some_large_synths, false},
};

Measured measure(const Case& each, uint32_t frames) {
    Stand stand(frames, each.native);
    each.prepare(stand);
    stand.settle();
    stand.run(0.02, false);
    (void)stand.take();
    each.act(stand);
    const bool answered = stand.settle(true);
    stand.run(0.1, true);
    Measured result = stand.take();
    result.answered = answered;
    return result;
}

[[noreturn]] void usage() {
    std::puts(
        "longest-cycle [--case TEXT] [--quantum FRAMES] [--runs N] [--stacks]\n"
        "\n"
        "  --case TEXT       only cases whose name contains it\n"
        "  --quantum FRAMES  instead of 64, 256 and 1024\n"
        "  --runs N          of each, 3 unless given; the lowest of them is shown, as the machine itself\n"
        "                    interrupts some\n"
        "  --stacks          shows where the data thread was after a cycle had come to the goal; the kernel says so\n"
        "                    at its next tick, so short excesses need some runs\n"
        "\n"
        "Ends with 1 if a case is beyond the goal.");
    std::exit(2);
}

} // namespace

int main(int count, char** args) {
    std::string_view only;
    std::vector<uint32_t> quanta = {64, 256, 1024};
    int runs = 3;
    bool met = true;
    for (int i = 1; i < count; ++i) {
        const std::string_view option = args[i];
        const char* value = i + 1 < count ? args[i + 1] : nullptr;
        if (option == "--stacks") {
            Witness::get().wanted = true;
            continue;
        }
        if (!value)
            usage();
        if (option == "--case")
            only = value;
        else if (option == "--quantum")
            quanta = {uint32_t(std::atoi(value))};
        else if (option == "--runs")
            runs = std::max(1, std::atoi(value));
        else
            usage();
        ++i;
    }
    std::printf("The longest cycle, %% of its duration; at most %.0f is the goal.\n\n| what is sent |", goal);
    for (const uint32_t frames : quanta)
        std::printf(" %u |", frames);
    std::printf("\n|---|");
    for (size_t i = 0; i < quanta.size(); ++i)
        std::printf("---|");
    std::puts("");
    for (const Case& each : cases) {
        if (std::string_view(each.name).find(only) == std::string_view::npos)
            continue;
        std::printf("| %s |", each.name);
        bool fits = true;
        for (const uint32_t frames : quanta) {
            Measured least{std::numeric_limits<int64_t>::max()};
            Witness::get().forget();
            for (int run = 0; run < runs; ++run) {
                const Measured now = measure(each, frames);
                least.longest = std::min(least.longest, now.longest);
                least.answered = least.answered && now.answered;
                if (100 * double(now.longest) * rate / frames / second <= goal)
                    break;
            }
            const double percent = 100 * double(least.longest) * rate / frames / second;
            std::printf(percent > goal ? " **%.0f**%s |" : " %.0f%s |", percent, least.answered ? "" : " (no answer)");
            std::fflush(stdout);
            fits = fits && percent <= goal;
        }
        std::puts("");
        if (!fits)
            Witness::get().print();
        met = met && fits;
    }
    return met ? 0 : 1;
}
