// SPDX-License-Identifier: GPL-3.0-or-later
// Runs every UGen of the installed plugins with hostile inputs, each in a process of its own, and says which of them
// crash, hang, or write beside their memory or a sample buffer. A survey for docs/safety.md:
//
//     ugen-torture [--runs N] [--seed N] [--tame] [--fixed-buffers] [--memory] [UGEN...]
//
// As a test (`--buffers`) it takes the UGens that write into buffers, and fails if one of them writes beside its own,
// or if a UGen that was made to do so isn't found.
#include "engine/engine.hpp"
#include "engine/guard/fault-guard.hpp"
#include "engine/plugins/interface-table.hpp"
#include "engine/plugins/registry.hpp"
#include "engine/plugins/ugens.hpp"
#include "engine/synthdef/validator.hpp"
#include "engine/units/unit-effects.hpp"
#include "engine/units/unit-facts.hpp"
#include "guarded-memory.hpp"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>
#include <vector>

namespace scs {
namespace {

constexpr int buffers = 24, control_count = 12;
enum Exit { exit_contained = 50, exit_wrote, exit_beside, exit_no_definition = 99 };
constexpr int samples_behind = 3; ///< that there is room for: PV_RecordBuf takes it
constexpr size_t room_behind = samples_behind * sizeof(float);
constexpr const char* planted = "WritesBeside";
int out_of_memory_in = 25; ///< one of this many allocations fails; 0: none

std::mt19937 random_bits;

int below(int n) {
    return int(random_bits() % unsigned(n));
}

void* guarded_alloc(::World* world, size_t bytes) {
    if (out_of_memory_in && below(out_of_memory_in) == 0)
        return nullptr;
    if (bytes > (8u << 20)) // the pool's size
        return nullptr;
    // The engine's allocations have a tail of this size.
    const size_t tail = std::max(sizeof(::SndBuf), size_t(world->mBufLength) * sizeof(float));
    auto* memory = static_cast<std::byte*>(GuardedMemory::take(bytes + tail));
    if (memory) {
        std::memset(memory, 0xcd, bytes); // like a pool that has been used before
        std::memset(memory + bytes, 0, tail);
    }
    return memory;
}
void guarded_free(::World*, void* memory) {
    if (memory)
        GuardedMemory::give(memory);
}

volatile bool wrote = false; ///< the fault that was contained was a write, which might have hit mapped memory
struct sigaction contain;

/// Runs before the engine's own handler of memory faults.
void look_at_fault(int signal, siginfo_t* info, void* context) {
#ifdef __x86_64__
    constexpr int write_access = 2;
    constexpr uintptr_t near_null = 65536; // never mapped, so a write there does no harm
    wrote = wrote || ((static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_ERR] & write_access) &&
                      uintptr_t(info->si_addr) >= near_null);
#endif
    contain.sa_sigaction(signal, info, context);
}

void look_at_faults() {
    sigaction(SIGSEGV, nullptr, &contain);
    struct sigaction before = contain;
    before.sa_sigaction = look_at_fault;
    sigaction(SIGSEGV, &before, nullptr);
}

float hostile_float() {
    static const float values[] = {0.f,   1.f,     -1.f,         0.5f,          2.f,        3.f,    1e-30f, -1e-30f,
                                   1e9f,  -1e9f,   1e30f,        -1e30f,        3e38f,      1e-45f, 64.f,   65.f,
                                   440.f, 48000.f, 2147483648.f, -2147483648.f, 16777216.f, 1e5f,   -5.f,   0.999f,
                                   127.f, 1024.f,  32768.f,      65536.f,       23.f,       24.f,   25.f};
    switch (below(4)) {
    case 0: return float(below(buffers + 2));
    case 1: return float(below(2000)) / 1000.f;
    case 2: return float(below(20)) - 4.f;
    default: return values[below(int(std::size(values)))];
    }
}

float wild_float() {
    switch (below(8)) {
    case 0: return NAN;
    case 1: return below(2) ? INFINITY : -INFINITY;
    default: return hostile_float();
    }
}

InputRef constant(SynthDef& def, float value) {
    def.constants.push_back(value);
    return {-1, uint32_t(def.constants.size() - 1)};
}

/// Units 0 to 6: 0 has the controls, 1 to 4 are at audio rate, 5 is noise, 6 an FFT chain.
InputRef any_input(SynthDef& def) {
    switch (below(10)) {
    case 0:
    case 1: return {0, uint32_t(below(control_count))};
    case 2: return {1 + below(4), 0};
    case 3: return {5, 0};
    default: return constant(def, hostile_float());
    }
}

/// Whether a UGen writes into sample buffers, other than into that of its FFT chain alone.
bool writes_buffers(std::string_view name) {
    const UnitEffects* effects = find_unit_effects(name);
    return name == planted || (effects && (effects->kinds & UnitEffects::writes_buffers));
}

SynthDef make_def(const std::string& name) {
    SynthDef def;
    def.name = std::string("torture");
    for (int i = 0; i < control_count; ++i)
        def.controls.push_back(hostile_float());
    def.units.push_back({"Control", Rate::control, 0, {}, std::vector<Rate>(control_count, Rate::control)});
    for (int i = 0; i < 4; ++i)
        def.units.push_back({"K2A", Rate::audio, 0, {{0, uint32_t(i)}}, {Rate::audio}});
    def.units.push_back({"WhiteNoise", Rate::audio, 0, {}, {Rate::audio}});
    // An FFT chain that suits most spectral units: the sizes of buffers 1 to 8 are powers of two.
    const bool spectral = name.starts_with("PV_") || name.find("FFT") != name.npos || below(4) == 0;
    if (spectral)
        def.units.push_back({"FFT",
                             Rate::control,
                             0,
                             {constant(def, float(1 + below(8))),
                              {5, 0},
                              constant(def, 0.5f),
                              constant(def, float(below(3) - 1)),
                              constant(def, 1.f),
                              constant(def, 0.f)},
                             {Rate::control}});
    const UnitFacts* facts = find_unit_facts(name);
    UnitSpec unit;
    unit.name = name;
    do
        unit.rate = Rate(below(4));
    while (facts && !(facts->rates & rate_bit(unit.rate)));
    if (facts && (facts->rates & rate_bit(Rate::audio)) && below(3) == 0)
        unit.rate = Rate::audio;
    if (name == "BinaryOpUGen" || name == "UnaryOpUGen")
        unit.special_index = int16_t(below(60));
    else if (below(10) == 0)
        unit.special_index = int16_t(below(70000));
    // A writer has as many signals as its buffer has channels, or it does nothing.
    const bool writer = writes_buffers(name);
    const int more = below(2) ? 0 : below(writer ? 3 : 30);
    const int inputs = (facts ? facts->min_inputs : below(12)) + (writer ? 1 : 0) + more;
    const int outputs = (facts ? facts->min_outputs : 1) + (below(3) ? 0 : below(8));
    if (name == "Control" || name == "TrigControl" || name == "AudioControl" || name == "LagControl")
        unit.special_index = 0;
    for (int i = 0; i < inputs; ++i) {
        if (i == 0 && spectral && below(8))
            unit.inputs.push_back({6, 0});
        else if (below(8) == 0)
            unit.inputs.push_back(constant(def, float(below(12))));
        else if (writer && below(2))
            unit.inputs.push_back(constant(def, float(below(6) - 2)));
        else
            unit.inputs.push_back(any_input(def));
    }
    unit.outputs.assign(size_t(outputs), unit.rate);
    const auto me = int32_t(def.units.size());
    const bool audio = unit.rate == Rate::audio && outputs > 0;
    const bool demand = unit.rate == Rate::demand;
    const bool control = unit.rate == Rate::control && outputs > 0;
    def.units.push_back(std::move(unit));
    if (demand)
        def.units.push_back({"Demand", Rate::audio, 0, {{5, 0}, constant(def, 0.f), {me, 0}}, {Rate::audio}});
    if (control && spectral)
        def.units.push_back({"IFFT", Rate::audio, 0, {{me, 0}, constant(def, 0.f), constant(def, 0.f)}, {Rate::audio}});
    if (audio)
        def.units.push_back({"Out", Rate::audio, 0, {constant(def, 2.f), {me, 0}}, {}});
    return def;
}

void print(const SynthDef& def) {
    const UnitSpec* unit = nullptr;
    for (const UnitSpec& u : def.units)
        if (u.name != "Control" && u.name != "K2A" && u.name != "WhiteNoise" && u.name != "FFT" && u.name != "Out" &&
            u.name != "IFFT" && u.name != "Demand")
            unit = &u;
    if (!unit)
        unit = &def.units.back();
    std::printf("   %s rate %d special %d outputs %zu:", unit->name.c_str(), int(unit->rate), unit->special_index,
                unit->outputs.size());
    for (const InputRef& i : unit->inputs) {
        if (i.is_constant())
            std::printf(" %g", double(def.constants[i.index]));
        else if (i.unit == 0)
            std::printf(" k%u", i.index);
        else if (i.unit == 6)
            std::printf(" fft");
        else
            std::printf(" a%d", i.unit);
    }
    std::printf("\n");
}

Buffer new_buffer(int index) {
    static const int sizes[] = {8, 64, 256, 512, 1024, 2048, 4096, 16384, 100, 1, 2, 3, 7, 48000};
    int frames = index >= 1 && index <= 8 ? 256 << below(4) : sizes[below(int(std::size(sizes)))];
    int channels = index >= 1 && index <= 8 ? 1 : 1 + (below(3) ? 0 : below(9));
    // UGens' interpolation reads a little beyond, where the engine's buffers have zeros, too.
    const auto side = below(2) ? GuardedMemory::Side::start : GuardedMemory::Side::end;
    auto* data = static_cast<float*>(
        GuardedMemory::take(size_t(frames) * size_t(channels) * sizeof(float), side, 16 * sizeof(float)));
    for (int i = 0; i < frames * channels; ++i)
        data[i] = below(50) ? float(below(2000)) / 1000.f - 1.f : wild_float();
    return {data, frames, channels, below(10) ? 48000. : double(hostile_float()), nullptr};
}

bool wrote_beside = false;

void look_at_buffer(Engine& engine, int index) {
    wrote_beside = wrote_beside || !GuardedMemory::untouched(engine.buffers().get(index).data, room_behind);
}

void change_buffer(Engine& engine, int index) {
    look_at_buffer(engine, index);
    const Buffer before = engine.buffers().get(index);
    Buffer after = below(3) ? new_buffer(index) : Buffer{};
    engine.buffers().install(index, after);
    if (before.data)
        GuardedMemory::give(before.data);
}

/// A UGen that does what the test must find.
void write_beside(::Unit* unit, int) {
    const ::SndBuf& buffer = unit->mWorld->mSndBufs[9];
    if (buffer.data)
        buffer.data[unit->mInBuf[0][0] > 0.f ? buffer.samples + samples_behind : -1] = 1.f;
}

struct Run {
    int seed;
    bool changes_buffers, wild;
};

/// Runs in a child process: plays a synth of a random definition with the unit `name`.
void torture(Engine& engine, const std::string& name, const Run& run, bool verbose) {
    random_bits.seed(unsigned(run.seed));
    SynthDef def;
    std::unique_ptr<Program> program;
    for (int tries = 0; tries < 60 && !program; ++tries) {
        def = make_def(name);
        auto compiled = compile(def, installed_ugens(), engine.settings().block_size, engine.settings().wire_buffers);
        if (compiled)
            program = std::move(compiled.value());
    }
    if (!program)
        _exit(exit_no_definition);
    if (verbose)
        print(def), std::fflush(stdout);
    for (int i = 0; i < buffers; ++i)
        if (i != 0 && i < 22)
            engine.buffers().install(i, new_buffer(i));
    Definition definition(std::move(program), engine.settings());
    definition.users = 1;
    float out[2][64];
    float* outs[] = {out[0], out[1]};
    const float* ins[] = {nullptr, nullptr};
    NtpTime time = NtpTime(1) << 32;
    Synth* synth = nullptr;
    bool contained = false;
    Engine::watch_thread(); // a timer isn't inherited
    for (int block = 0; block < 120; ++block) {
        if (!engine.tree().find_synth(1000))
            (void)engine.tree().new_synth(definition, nullptr, 1000, AddAction::head, 0, synth);
        if (run.changes_buffers && below(6) == 0)
            change_buffer(engine, below(buffers));
        if (run.wild && below(3) == 0)
            if (Synth* s = engine.tree().find_synth(1000))
                engine.tree().controls().set(*s, below(control_count), wild_float());
        engine.process(64, time, 48000, ins, outs);
        time = ntp_advance(time, 64, 48000);
        RecordRing& ring = engine.events();
        for (auto record = ring.peek(); !record.empty(); record = ring.peek()) {
            EventHeader header;
            std::memcpy(&header, record.data(), sizeof header);
            const std::string_view text(reinterpret_cast<const char*>(record.data()), record.size());
            if (header.kind == EventKind::print && text.find("; the synth is freed") != text.npos) {
                contained = true;
                if (verbose)
                    std::printf("   %.*s", int(text.size() - sizeof header), text.data() + sizeof header);
            }
            ring.pop();
        }
    }
    if (Synth* s = engine.tree().find_synth(1000))
        engine.tree().free(*s);
    for (int i = 0; i < buffers; ++i)
        look_at_buffer(engine, i);
    std::fflush(stdout);
    _exit(wrote_beside ? exit_beside : wrote ? exit_wrote : contained ? exit_contained : 0);
}

struct Options {
    int runs = 20, first_seed = 1;
    bool wild = true, changes = true;
    bool buffers = false; ///< the test
    std::vector<std::string> names;
};

Options read_options(int argc, char** argv) {
    Options options;
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        if (word == "--runs")
            options.runs = std::atoi(argv[++i]);
        else if (word == "--seed")
            options.first_seed = std::atoi(argv[++i]);
        else if (word == "--tame")
            options.wild = false;
        else if (word == "--fixed-buffers")
            options.changes = false;
        else if (word == "--memory")
            out_of_memory_in = 0;
        else if (word == "--buffers")
            options.buffers = true;
        else
            options.names.push_back(word);
    }
    return options;
}

/// How the runs of a UGen ended.
class Findings {
public:
    void add(int seed, int status) {
        const int code = WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
        if (code)
            ends_[code].push_back(seed);
    }
    size_t count(int code) const {
        const auto it = ends_.find(code);
        return it == ends_.end() ? 0 : it->second.size();
    }
    bool wrote() const { return count(exit_wrote) || count(exit_beside); }
    bool died() const {
        return std::any_of(ends_.begin(), ends_.end(), [](const auto& end) { return describe(end.first).empty(); });
    }
    void print(const std::string& name, int runs) const {
        for (const auto& [code, seeds] : ends_) {
            std::string what = describe(code);
            if (code == exit_no_definition && seeds.size() < size_t(runs))
                continue;
            if (what.empty())
                what = code < 0 ? strsignal(-code) : "exit";
            std::printf("%s: %s %zu of %d, seed %d\n", name.c_str(), what.c_str(), seeds.size(), runs, seeds[0]);
        }
        std::fflush(stdout);
    }

private:
    static std::string describe(int code) {
        switch (code) {
        case exit_contained: return "contained";
        case exit_wrote: return "contained writes";
        case exit_beside: return "wrote beside a buffer";
        case exit_no_definition: return "no valid definition found";
        default: return {};
        }
    }
    std::map<int, std::vector<int>> ends_;
};

Findings play(Engine& engine, const std::string& name, const Options& options) {
    Findings findings;
    for (int seed = options.first_seed; seed < options.first_seed + options.runs; ++seed) {
        const pid_t child = fork();
        if (child == 0) {
            alarm(60);
            if (options.runs > 1 && !std::freopen("/dev/null", "w", stdout)) // some UGens print
                _exit(1);
            torture(engine, name, {seed, options.changes, options.wild}, options.runs == 1);
        }
        int status = 0;
        waitpid(child, &status, 0);
        findings.add(seed, status);
        if (findings.count(-SIGALRM) >= 2)
            break;
    }
    return findings;
}

int survey(int argc, char** argv) {
    Options options = read_options(argc, argv);
    Settings settings;
    settings.buffers = buffers;
    settings.audio_buses = 32;
    settings.control_buses = 64;
    auto made = Engine::create(settings, [](const std::string&) {});
    if (!made) {
        std::fprintf(stderr, "%s\n", made.error().c_str());
        return 1;
    }
    PluginRegistry& registry = PluginRegistry::instance();
    registry.define_unit(
        planted, sizeof(::Unit), [](::Unit* unit) { unit->mCalcFunc = write_beside; }, nullptr, 0);
    FaultGuard::prepare_thread();
    look_at_faults();
    interface_table()->fRTAlloc = guarded_alloc;
    interface_table()->fRTFree = guarded_free;
    if (options.names.empty())
        for (const std::string& name : registry.ugen_names())
            if (options.buffers ? writes_buffers(name) : name != planted)
                options.names.push_back(name);
    int bad = 0;
    for (const std::string& name : options.names) {
        const Findings findings = play(*made.value(), name, options);
        findings.print(name, options.runs);
        bad += findings.died() || (options.buffers && findings.wrote() != (name == planted));
    }
    std::printf("%zu UGens, %d findings\n", options.names.size(), bad);
    return options.buffers && bad;
}

} // namespace
} // namespace scs

int main(int argc, char** argv) {
    return scs::survey(argc, argv);
}
