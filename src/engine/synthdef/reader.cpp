// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/synthdef/reader.hpp"

#include "engine/synthdef/text.hpp"

#include <bit>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace scs {
namespace {

/// Reads big-endian values from bytes. After the first failure, all reads give zeros and change nothing.
class Cursor {
public:
    explicit Cursor(std::span<const std::byte> bytes) : bytes_(bytes), end_(bytes.size()) {}

    bool ok() const { return !failure_; }
    size_t position() const { return position_; }
    size_t remaining() const { return end_ - position_; }
    const std::string& failure() const { return *failure_; }

    void fail_at(size_t position, std::string what) {
        if (!failure_)
            failure_ = std::move(what) + " at byte " + std::to_string(position);
    }

    /// From here on, reads stay within the bytes before `end`.
    void enter(size_t end) { end_ = end; }
    /// Skips what wasn't read of them.
    void leave() {
        if (ok())
            position_ = end_;
        end_ = bytes_.size();
    }

    uint8_t u8(std::string_view what) { return uint8_t(take(1, what)); }
    int16_t i16(std::string_view what) { return int16_t(uint16_t(take(2, what))); }
    int32_t i32(std::string_view what) { return int32_t(take(4, what)); }
    float f32(std::string_view what) { return std::bit_cast<float>(take(4, what)); }

    std::string text(std::string_view what) {
        const size_t length = u8(what);
        if (!has(length, what))
            return {};
        const auto* first = reinterpret_cast<const char*>(bytes_.data()) + position_;
        position_ += length;
        return std::string(first, length);
    }

private:
    bool has(size_t count, std::string_view what) {
        if (ok() && count > remaining())
            fail_at(position_, (end_ < bytes_.size() ? "the definition's size ends within " : "the file ends within ") +
                                   std::string(what));
        return ok();
    }

    uint32_t take(size_t count, std::string_view what) {
        if (!has(count, what))
            return 0;
        uint32_t value = 0;
        for (size_t i = 0; i < count; ++i)
            value = value << 8 | std::to_integer<uint32_t>(bytes_[position_ + i]);
        position_ += count;
        return value;
    }

    std::span<const std::byte> bytes_;
    size_t position_ = 0, end_;
    std::optional<std::string> failure_;
};

constexpr uint32_t magic = 0x53436766; // "SCgf"

class Reader {
public:
    explicit Reader(std::span<const std::byte> bytes) : in_(bytes) {}

    Result<std::vector<SynthDef>> read() {
        if (uint32_t(in_.i32("the magic number")) != magic)
            in_.fail_at(0, "not a SynthDef file: no 'SCgf'");
        const int32_t version = in_.i32("the version");
        if (version < 1 || version > 3)
            in_.fail_at(4, "SCgf version " + std::to_string(version) + " is not supported");
        wide_ = version >= 2;
        sized_ = version >= 3;

        std::vector<SynthDef> defs;
        const size_t smallest_def = 1 + 4 * index_bytes() + 2 + (sized_ ? size_bytes + own_rate_bytes : 0);
        const size_t count =
            checked_count(in_.position(), in_.i16("the definition count"), smallest_def, "definitions");
        for (size_t i = 0; i < count && in_.ok(); ++i) {
            place_ = "definition " + std::to_string(i);
            const size_t begin = in_.position();
            defs.push_back(sized_ ? sized_definition() : definition());
            defs.back().begin = begin;
            defs.back().end = in_.position();
        }
        if (!in_.ok())
            return Error{place_.empty() ? in_.failure() : place_ + ": " + in_.failure()};
        return defs;
    }

private:
    static constexpr size_t size_bytes = 4, own_rate_bytes = 16;

    size_t index_bytes() const { return wide_ ? 4 : 2; }

    int32_t index(std::string_view what) { return wide_ ? in_.i32(what) : in_.i16(what); }

    /// Checks a count: it fails if the remaining bytes can't hold that many elements of the smallest size.
    size_t checked_count(size_t position, int32_t count, size_t element_bytes, std::string_view what) {
        if (!in_.ok())
            return 0;
        if (count < 0 || size_t(count) > in_.remaining() / element_bytes) {
            in_.fail_at(position, std::to_string(count) + " " + std::string(what) + ", but " +
                                      std::to_string(in_.remaining()) + " bytes remain,");
            return 0;
        }
        return size_t(count);
    }

    size_t count(size_t element_bytes, std::string_view what) {
        const size_t position = in_.position();
        const int32_t value = index(what);
        return checked_count(position, value, element_bytes, what);
    }

    std::vector<float> floats(size_t number, std::string_view what) {
        std::vector<float> values;
        values.reserve(number);
        for (size_t i = 0; i < number && in_.ok(); ++i)
            values.push_back(in_.f32(what));
        return values;
    }

    Rate rate(std::string_view what) {
        const size_t position = in_.position();
        const uint8_t value = in_.u8(what);
        if (value > uint8_t(Rate::demand))
            in_.fail_at(position, std::string(what) + " is " + std::to_string(value) + ", not 0 to 3,");
        return static_cast<Rate>(value);
    }

    InputRef input() {
        const size_t position = in_.position();
        const int32_t unit = index("an input");
        const int32_t from = index("an input");
        if (unit < -1 || from < 0)
            in_.fail_at(position,
                        "an input refers to unit " + std::to_string(unit) + ", index " + std::to_string(from) + ",");
        return {unit, uint32_t(from)};
    }

    UnitSpec unit(const std::string& def_place, size_t number) {
        place_ = def_place + ", unit " + std::to_string(number);
        UnitSpec unit;
        unit.name = in_.text("a unit's name");
        place_ += ' ' + quoted(unit.name);
        unit.rate = rate("the unit's rate");
        const size_t inputs_position = in_.position();
        const int32_t num_inputs = index("the input count");
        const size_t outputs_position = in_.position();
        const int32_t num_outputs = index("the output count");
        unit.special_index = in_.i16("the special index");

        const size_t inputs = checked_count(inputs_position, num_inputs, 2 * index_bytes(), "inputs");
        unit.inputs.reserve(inputs);
        for (size_t i = 0; i < inputs && in_.ok(); ++i)
            unit.inputs.push_back(input());

        const size_t outputs = checked_count(outputs_position, num_outputs, 1, "outputs");
        unit.outputs.reserve(outputs);
        for (size_t i = 0; i < outputs && in_.ok(); ++i)
            unit.outputs.push_back(rate("an output's rate"));
        return unit;
    }

    void control_names(SynthDef& def) {
        const size_t number = count(1 + index_bytes(), "control names");
        def.control_names.reserve(number);
        for (size_t i = 0; i < number && in_.ok(); ++i) {
            ControlName control;
            control.name = in_.text("a control's name");
            const size_t position = in_.position();
            const int32_t first = index("a control's index");
            if (first < 0)
                in_.fail_at(position, "control " + quoted(control.name) + " has index " + std::to_string(first));
            control.index = uint32_t(first);
            def.control_names.push_back(std::move(control));
        }
    }

    void variants(SynthDef& def) {
        const size_t position = in_.position();
        const int16_t value = in_.i16("the variant count");
        const size_t number = checked_count(position, value, 1 + 4 * def.controls.size(), "variants");
        for (size_t i = 0; i < number && in_.ok(); ++i) {
            Variant variant;
            variant.name = in_.text("a variant's name");
            variant.values = floats(def.controls.size(), "a variant's values");
            def.variants.push_back(std::move(variant));
        }
    }

    /// Its size comes first, and more fields may follow those known here.
    SynthDef sized_definition() {
        const size_t position = in_.position();
        const int32_t size = in_.i32("the definition's size");
        if (in_.ok() && (size < int32_t(size_bytes) || size_t(size) - size_bytes > in_.remaining())) {
            in_.fail_at(position, "a definition of " + std::to_string(size) + " bytes, but " +
                                      std::to_string(in_.remaining() + size_bytes) + " remain,");
            return {};
        }
        if (in_.ok())
            in_.enter(position + size_t(size));
        SynthDef def = definition();
        def.own_rate.block_size = in_.i32("the block size");
        def.own_rate.block_size_control = in_.i32("the block size's control");
        def.own_rate.resample = in_.f32("the resampling factor");
        def.own_rate.resample_control = in_.i32("the resampling factor's control");
        in_.leave();
        return def;
    }

    SynthDef definition() {
        SynthDef def;
        def.name = in_.text("the definition's name");
        place_ += ' ' + quoted(def.name);
        def.constants = floats(count(4, "constants"), "the constants");
        def.controls = floats(count(4, "controls"), "the controls");
        control_names(def);

        const std::string def_place = place_;
        const size_t smallest_unit = 1 + 1 + 2 * index_bytes() + 2;
        const size_t units = count(smallest_unit, "units");
        for (size_t i = 0; i < units && in_.ok(); ++i)
            def.units.push_back(unit(def_place, i));
        if (in_.ok())
            place_ = def_place;
        variants(def);
        return def;
    }

    Cursor in_;
    bool wide_ = false;  ///< counts and indices have four bytes
    bool sized_ = false; ///< definitions begin with their size
    std::string place_;
};

} // namespace

Result<std::vector<SynthDef>> read_synthdefs(std::span<const std::byte> bytes) {
    return Reader(bytes).read();
}

} // namespace scs
