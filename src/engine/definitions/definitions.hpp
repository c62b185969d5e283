// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/settings.hpp"
#include "engine/base/status.hpp"
#include "engine/messages/command.hpp"
#include "engine/synthdef/program.hpp"
#include "engine/voices/code.hpp"

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace scs {

/// A SynthDef ready to play: what definitions hold and synths refer to. Made on the worker, given to the data
/// loop, handed back when the last synth of it has gone.
struct Definition final : Handback {
    Definition(std::unique_ptr<const Program>, const Settings&);
    const std::string* synthdef_name() const noexcept override { return &program->name; }
    std::unique_ptr<const Program> program;
    std::unique_ptr<const NativeCode> code; ///< null: synths are made of plugin units
    std::vector<const Kernel*> kernels;     ///< but for these units, see kernels_among_plugins()
    int32_t users = 0;                      ///< [rt] synths of it, plus one while it can be found by name
    Definition* chain = nullptr;            ///< [rt] the next one in its hash chain
};

/// [worker] Reads, validates and compiles the SynthDefs of a file's bytes. Broken ones are reported in `errors`
/// ("<def>: …"), the others still come. Nothing is installed yet.
std::vector<std::unique_ptr<Definition>> load_definitions(std::span<const std::byte> file, const Settings&,
                                                          std::vector<std::string>& errors);

/// The SynthDefs that /s_new can find. [rt] only, after construction.
class Definitions {
public:
    explicit Definitions(int max_synthdefs); // [worker]
    ~Definitions();

    /// Adds one, replacing that of the same name. `replaced` (may be null) is the one whose last user that was:
    /// hand it back. failed: the table is full and `definition` still the caller's.
    Status add(Definition* definition, Definition*& replaced) noexcept;
    /// Takes the name away. Returns whether there was one; `unused` as above.
    bool remove(std::string_view name, Definition*& unused) noexcept;
    /// Takes one away, for freeing all: null when there is none left.
    Definition* remove_any(Definition*& unused) noexcept;
    Definition* find(std::string_view name) noexcept;
    int count() const noexcept { return count_; }

private:
    Definition** link_to(std::string_view name) noexcept;
    Definition* take(Definition** link, Definition*& unused) noexcept;

    std::vector<Definition*> buckets_;
    int max_, count_ = 0;
};

} // namespace scs
