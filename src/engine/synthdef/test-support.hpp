// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/synthdef/synthdef.hpp"
#include "engine/synthdef/ugen-catalog.hpp"

#include <cstddef>
#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace scs::test {

using Bytes = std::vector<std::byte>;

/// The SCgf file of these definitions; version 1, 2 or 3. `after`: bytes at the end of each definition of version 3.
Bytes write_synthdefs(std::span<const SynthDef> defs, int version, size_t after = 0);

/// A catalog in which every name is installed. UGens in `cant_alias` can't alias their inputs.
class PermissiveCatalog : public UgenCatalog {
public:
    explicit PermissiveCatalog(std::initializer_list<std::string_view> cant_alias = {}, size_t unit_bytes = 128);
    const UgenInfo* find(std::string_view name) const override;

private:
    std::vector<std::string> cant_alias_;
    size_t unit_bytes_;
    mutable std::map<std::string, UgenInfo, std::less<>> infos_;
};

/// SinOsc.ar(freq) * amp through Out, with an EnvGen.kr, two named controls and a variant: valid.
SynthDef example();

} // namespace scs::test
