// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/synthdef/test-support.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>

namespace scs::test {
namespace {

class Writer {
public:
    explicit Writer(int version) : wide_(version >= 2) {
        number(0x53436766, 4);
        number(uint32_t(version), 4);
    }

    void number(uint32_t value, int bytes) {
        for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8)
            bytes_.push_back(static_cast<std::byte>(value >> shift));
    }
    void index(size_t value) { number(uint32_t(value), wide_ ? 4 : 2); }
    void text(const std::string& value) {
        number(uint32_t(value.size()), 1);
        for (char c : value)
            bytes_.push_back(static_cast<std::byte>(c));
    }
    void floats(const std::vector<float>& values) {
        for (float value : values)
            number(std::bit_cast<uint32_t>(value), 4);
    }

    size_t size() const { return bytes_.size(); }
    /// Writes the number of bytes from `begin` on there.
    void put_size(size_t begin) {
        for (size_t i = 0; i < 4; ++i)
            bytes_[begin + i] = static_cast<std::byte>((size() - begin) >> (24 - 8 * i));
    }

    Bytes take() { return std::move(bytes_); }

private:
    bool wide_;
    Bytes bytes_;
};

void write_unit(Writer& out, const UnitSpec& unit) {
    out.text(unit.name);
    out.number(uint32_t(unit.rate), 1);
    out.index(unit.inputs.size());
    out.index(unit.outputs.size());
    out.number(uint16_t(unit.special_index), 2);
    for (const InputRef& input : unit.inputs) {
        out.index(uint32_t(input.unit));
        out.index(input.index);
    }
    for (Rate rate : unit.outputs)
        out.number(uint32_t(rate), 1);
}

} // namespace

Bytes write_synthdefs(std::span<const SynthDef> defs, int version, size_t after) {
    Writer out(version);
    out.number(uint32_t(defs.size()), 2);
    for (const SynthDef& def : defs) {
        const size_t begin = out.size();
        if (version >= 3)
            out.number(0, 4);
        out.text(def.name);
        out.index(def.constants.size());
        out.floats(def.constants);
        out.index(def.controls.size());
        out.floats(def.controls);
        out.index(def.control_names.size());
        for (const ControlName& control : def.control_names) {
            out.text(control.name);
            out.index(control.index);
        }
        out.index(def.units.size());
        for (const UnitSpec& unit : def.units)
            write_unit(out, unit);
        out.number(uint32_t(def.variants.size()), 2);
        for (const Variant& variant : def.variants) {
            out.text(variant.name);
            out.floats(variant.values);
        }
        if (version < 3)
            continue;
        out.number(uint32_t(def.own_rate.block_size), 4);
        out.number(uint32_t(def.own_rate.block_size_control), 4);
        out.floats({def.own_rate.resample});
        out.number(uint32_t(def.own_rate.resample_control), 4);
        for (size_t i = 0; i < after; ++i)
            out.number(0xa5, 1);
        out.put_size(begin);
    }
    return out.take();
}

PermissiveCatalog::PermissiveCatalog(std::initializer_list<std::string_view> cant_alias, size_t unit_bytes)
    : cant_alias_(cant_alias.begin(), cant_alias.end()), unit_bytes_(unit_bytes) {}

const UgenInfo* PermissiveCatalog::find(std::string_view name) const {
    auto found = infos_.find(name);
    if (found == infos_.end()) {
        const bool cant_alias = std::find(cant_alias_.begin(), cant_alias_.end(), name) != cant_alias_.end();
        const UgenInfo info{std::string(name), unit_bytes_, cant_alias, nullptr};
        found = infos_.emplace(info.name, info).first;
    }
    return &found->second;
}

SynthDef example() {
    SynthDef def;
    def.name = "example";
    def.constants = {0.0f, 1.0f, 2.0f, 0.5f};
    def.controls = {440.0f, 441.0f, 0.1f};
    def.control_names = {{"freqs", 0}, {"amp", 2}};
    def.units = {
        {"Control", Rate::control, 0, {}, {Rate::control, Rate::control, Rate::control}},
        {"SinOsc", Rate::audio, 0, {{0, 0}, {-1, 0}}, {Rate::audio}},
        {"EnvGen",
         Rate::control,
         0,
         {{-1, 1},
          {-1, 1},
          {-1, 0},
          {-1, 1},
          {-1, 2},
          {-1, 0},
          {-1, 1},
          {-1, 0},
          {-1, 0}, //
          {-1, 1},
          {-1, 3},
          {-1, 1},
          {-1, 0}},
         {Rate::control}},
        {"BinaryOpUGen", Rate::audio, 2, {{1, 0}, {0, 2}}, {Rate::audio}},
        {"BinaryOpUGen", Rate::audio, 2, {{3, 0}, {2, 0}}, {Rate::audio}},
        {"Out", Rate::audio, 0, {{-1, 0}, {4, 0}, {4, 0}}, {}},
    };
    def.variants = {{"example.low", {110.0f, 111.0f, 0.2f}}};
    return def;
}

} // namespace scs::test
