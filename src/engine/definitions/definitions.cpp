// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/definitions/definitions.hpp"
#include "engine/base/nonblocking.hpp"

#include "engine/base/available-memory.hpp"
#include "engine/base/hash.hpp"
#include "engine/base/settings.hpp"
#include "engine/compile/may-rest.hpp"
#include "engine/compile/unit-kernels.hpp"
#include "engine/plugins/own-rate-units.hpp"
#include "engine/plugins/ugens.hpp"
#include "engine/synthdef/endings.hpp"
#include "engine/synthdef/fine-phases.hpp"
#include "engine/synthdef/later-inputs.hpp"
#include "engine/synthdef/own-rate.hpp"
#include "engine/synthdef/reader.hpp"
#include "engine/ugens/native-ugens.hpp"

#include <algorithm>
#include <bit>

namespace scs {

namespace {

// How many times the bytes of its file a SynthDef may take while it is read (9 to 18 times were measured with 60,000
// units and 300,000 controls), and of files from which size on that is asked for: small ones are read by the hundred.
constexpr int64_t most_growth = 32;
constexpr size_t unasked = 64 << 10;

std::shared_ptr<const DefinitionSource> source_of(std::span<const std::byte> file, const SynthDef& def) {
    constexpr size_t count_at = 8, header = 10; // bytes
    auto source = std::make_shared<DefinitionSource>();
    source->name = def.name;
    source->file.reserve(header + def.end - def.begin);
    source->file.assign(file.begin(), file.begin() + count_at);
    source->file.insert(source->file.end(), {std::byte(0), std::byte(1)});
    source->file.insert(source->file.end(), file.begin() + ptrdiff_t(def.begin), file.begin() + ptrdiff_t(def.end));
    return source;
}

/// Of a synth in blocks of its own: null where the unit isn't to be native, as that for other blocks and rates is, and
/// what tells of frames of the server's blocks.
std::vector<const Kernel*> kernels_in_own_blocks(const Program& program, std::vector<const Kernel*> kernels) {
    for (size_t i = 0; i < kernels.size(); ++i)
        if (is_own_rate_unit(*program.units[i].ugen) || (kernels[i] && kernels[i]->sends))
            kernels[i] = nullptr;
    return kernels;
}

/// Those whose units are computed once in each of the server's blocks, or only when a synth starts.
std::vector<const Kernel*> kernels_of_any_frames(const Program& program, std::vector<const Kernel*> kernels) {
    for (size_t i = 0; i < kernels.size(); ++i)
        if (!program.units[i].once_a_block && program.units[i].rate != Rate::scalar)
            kernels[i] = nullptr;
    return kernels;
}

} // namespace

Definition::Definition(std::unique_ptr<const Program> p, const Settings& settings) : program(std::move(p)) {
    staying = scs::staying(*program);
    ends_itself = std::any_of(program->units.begin(), program->units.end(),
                              [this](const UnitPlan& unit) { return ending_of(*program, unit).frees; });
    NativeUgens ugens = native_ugens(settings.simd);
    ugens.release = release_to_follow(settings);
    ugens.right_durations = !release_named(settings.supercollider); // unless that release is asked for
    const bool own = asks(program->own_rate);
    if (settings.native_ugens)
        code = generate(*program, ugens, settings.block_size);
    if (!code)
        kernels = kernels_among_plugins(*program, ugens, settings.native_ugens ? NativeUnits::any : NativeUnits::buses,
                                        settings.block_size);
    facts = code.get();
    if (code)
        return;
    if (own) {
        kernels = kernels_in_own_blocks(*program, std::move(kernels));
        kernels_of_ticks = kernels_of_any_frames(*program, kernels);
    } else if (!kernels.empty())
        may_rest = scs::may_rest(*program, kernels, ugens);
    if (std::find(may_rest.begin(), may_rest.end(), true) == may_rest.end())
        may_rest.clear();
    graph_sizes = UnitGraph::sizes(*program, kernels, kernels_of_ticks, !may_rest.empty());
    graph_facts = judge_graph(*program, own ? kernels_of_ticks : kernels);
    facts = graph_facts.get();
}

std::vector<std::unique_ptr<Definition>> load_definitions(std::span<const std::byte> file, const Settings& settings,
                                                          std::vector<std::string>& errors) {
    std::vector<std::unique_ptr<Definition>> loaded;
    if (file.size() > unasked && !leaves_memory(int64_t(file.size()) * most_growth)) {
        errors.push_back("not enough memory for SynthDefs of " + std::to_string(file.size() >> 20) + " MiB");
        return loaded;
    }
    Result<std::vector<SynthDef>> defs = read_synthdefs(file);
    if (!defs) {
        errors.push_back(defs.error());
        return loaded;
    }
    for (SynthDef& def : defs.value()) {
        if (is_servers_own(def.own_rate, settings.block_size))
            def.own_rate = {};
        add_later_inputs(def, release_to_follow(settings));
        const auto program_of = [&](const SynthDef& one) {
            return compile(one, UgensOf(settings), settings.block_size, settings.wire_buffers, settings.native_ugens);
        };
        const auto fine = settings.native_ugens ? refined_phases(def) : std::nullopt;
        Result<std::unique_ptr<Program>> program = program_of(fine ? *fine : def);
        if (!program && fine) // it has too many wires so, or another fault, which is to be told of what was sent
            program = program_of(def);
        if (program) {
            if (asks(program.value()->own_rate))
                use_own_rate_units(*program.value());
            loaded.push_back(std::make_unique<Definition>(std::move(program.value()), settings));
            loaded.back()->source = source_of(file, def);
        } else
            errors.push_back(def.name + ": " + program.error());
    }
    return loaded;
}

Definitions::Definitions(int max_synthdefs)
    : buckets_(std::bit_ceil(size_t(max_synthdefs > 0 ? max_synthdefs : 1))), max_(max_synthdefs) {}

Definitions::~Definitions() {
    for (Definition*& bucket : buckets_)
        while (Definition* definition = bucket) {
            bucket = definition->chain;
            delete definition;
        }
}

Definition** Definitions::link_to(std::string_view name) noexcept {
    Definition** link = &buckets_[hash_of_name(name) >> 32 & (buckets_.size() - 1)];
    while (*link && !same_name((*link)->program->name, name))
        link = &(*link)->chain;
    return link;
}

Definition* Definitions::take(Definition** link, Definition*& unused) noexcept {
    Definition* taken = *link;
    *link = taken->chain;
    taken->chain = nullptr;
    --count_;
    unused = --taken->users == 0 ? taken : nullptr;
    return taken;
}

Status Definitions::add(Definition* definition, Definition*& replaced) noexcept {
    replaced = nullptr;
    Definition** link = link_to(definition->program->name);
    if (!*link && count_ >= max_)
        return {Code::failed};
    if (*link) {
        take(link, replaced);
        link = link_to(definition->program->name);
    }
    *link = definition;
    first_used_ = 0;
    definition->chain = nullptr;
    ++definition->users;
    ++count_;
    return {};
}

bool Definitions::remove(std::string_view name, Definition*& unused) noexcept {
    unused = nullptr;
    Definition** link = link_to(name);
    if (!*link)
        return false;
    take(link, unused);
    return true;
}

Definition* Definitions::remove_any(Definition*& unused) noexcept {
    unused = nullptr;
    for (; first_used_ < buckets_.size(); ++first_used_)
        if (Definition*& bucket = buckets_[first_used_])
            return take(&bucket, unused);
    return nullptr;
}

Definition* Definitions::find(std::string_view name) noexcept {
    return *link_to(name);
}

Definitions::Found Definitions::find_variant(std::string_view name) noexcept {
    if (name.size() > longest_name)
        return {};
    if (Definition* definition = find(name))
        return {definition, nullptr};
    for (size_t dot = name.rfind('.'); dot != std::string_view::npos && dot > 0; dot = name.rfind('.', dot - 1))
        if (Definition* definition = find({name.data(), dot}))
            if (const Variant* variant = definition->program->find_variant(name))
                return {definition, variant->values.data()};
    return {};
}

} // namespace scs
