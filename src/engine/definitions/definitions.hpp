// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/nonblocking.hpp"
#include "engine/base/settings.hpp"
#include "engine/base/status.hpp"
#include "engine/compile/code.hpp"
#include "engine/compile/graph-facts.hpp"
#include "engine/messages/command.hpp"
#include "engine/plugins/unit-graph.hpp"
#include "engine/synthdef/endings.hpp"
#include "engine/synthdef/program.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace scs {

/// What a SynthDef was read from.
struct DefinitionSource {
    std::string name;
    std::vector<std::byte> file; ///< a SynthDef file with this one alone
};

/// A SynthDef ready to play. Made on the worker and given to the data loop, which hands it back when its name and its
/// last synth are gone.
struct Definition final : Handback {
    Definition(std::unique_ptr<const Program>, const Settings&);
    const std::string* synthdef_name() const noexcept override { return &program->name; }
    std::unique_ptr<const Program> program;
    std::unique_ptr<const NativeCode> code;        ///< null: synths are UnitGraphs, with plugin units
    std::unique_ptr<const GraphFacts> graph_facts; ///< if synths are UnitGraphs
    std::vector<const Kernel*> kernels; ///< of the units in a UnitGraph that are native, see kernels_among_plugins()
    /// If they are UnitGraphs with blocks or a rate of their own: those that can be used with any number of frames;
    /// else empty.
    std::vector<const Kernel*> kernels_of_ticks;
    std::vector<bool> may_rest;                     ///< which of them may be at rest, see may_rest(); empty: none
    const TurnFacts* facts = nullptr;               ///< of either
    UnitGraph::Sizes graph_sizes;                   ///< of a UnitGraph, if synths are that
    std::shared_ptr<const DefinitionSource> source; ///< as long as it exists
    Staying staying;                                ///< which synths of it play on
    bool ends_itself = false;    ///< a unit may free the synth: by a done action, or it is a FreeSelf
    int32_t users = 0;           ///< [rt] how many synths use it, plus one while it can be found by name
    Definition* chain = nullptr; ///< [rt] the next definition in the hash chain
};

/// [worker] Reads, validates and compiles the SynthDefs in a file's bytes. Broken ones are reported in `errors`
/// ("<def>: …"); the others are returned. Nothing is installed yet.
std::vector<std::unique_ptr<Definition>> load_definitions(std::span<const std::byte> file, const Settings&,
                                                          std::vector<std::string>& errors);

/// The SynthDefs that /s_new can find. [rt] only, after construction.
class Definitions {
public:
    explicit Definitions(int max_synthdefs); // [worker]
    ~Definitions();

    /// Adds a definition in place of the one of the same name. If nobody uses that one any more, `replaced` gets it, to
    /// be handed back; else null. Error: failed if the table is full; the caller still owns `definition`.
    Status add(Definition* definition, Definition*& replaced) noexcept SCS_NONBLOCKING;
    /// Removes the definition of this name. Returns whether there was one. `unused` as `replaced` above.
    bool remove(std::string_view name, Definition*& unused) noexcept SCS_NONBLOCKING;
    /// Removes any one definition, to free all of them one by one; null when none is left.
    Definition* remove_any(Definition*& unused) noexcept SCS_NONBLOCKING;
    Definition* find(std::string_view name) noexcept SCS_NONBLOCKING;
    /// A definition and the initial values of a synth of it; values are null for the definition's own.
    struct Found {
        Definition* definition = nullptr;
        const float* values = nullptr;
    };
    static constexpr size_t longest_name = 2 * 255 + 1; ///< SynthDef files give each of two names a byte for its length
    /// "name", or "name.variant". A longer one isn't looked at: each dot would cost another search.
    Found find_variant(std::string_view name) noexcept SCS_NONBLOCKING;
    int count() const noexcept { return count_; }
    /// They stand in this many chains. The first one of a chain, null if it is empty; Definition::chain follows.
    size_t chains() const noexcept { return buckets_.size(); }
    const Definition* first_of(size_t chain) const noexcept { return buckets_[chain]; }

private:
    Definition** link_to(std::string_view name) noexcept SCS_NONBLOCKING;
    Definition* take(Definition** link, Definition*& unused) noexcept SCS_NONBLOCKING;

    std::vector<Definition*> buckets_;
    size_t first_used_ = 0; ///< no bucket before this one has a definition
    int max_, count_ = 0;
};

} // namespace scs
