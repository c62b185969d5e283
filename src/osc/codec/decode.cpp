// SPDX-License-Identifier: GPL-3.0-or-later
#include "osc/codec/decode.hpp"

#include <array>
#include <bit>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>

namespace scs::osc {
namespace {

constexpr char bundle_word[8] = "#bundle";
constexpr size_t bundle_header = 16;

/// A type tag in a text: in quotes, or as a number.
struct TagName {
    explicit TagName(char tag) noexcept {
        std::snprintf(text.data(), text.size(), tag > ' ' && tag < 0x7f ? "'%c'" : "0x%02x",
                      static_cast<unsigned char>(tag));
    }
    std::array<char, 8> text;
};

} // namespace

/// Fills a Packet front to back. Every element starts and ends at a multiple of 4: the packet is padded to one, and
/// the elements of bundles are checked where their sizes are read. The functions below rely on that. Offsets count from
/// the packet's start. Where the tables have room for all that the limits allow, nothing allocates.
class Decoder {
public:
    explicit Decoder(const PacketLimits& limits) : limits_(limits) {}

    /// Makes room for all that the limits allow.
    void reserve() {
        packet_.bytes_.reserve(padded(limits_.bytes));
        packet_.args_.reserve(limits_.arguments);
        // Each is an element of a bundle, but for the outermost.
        packet_.messages_.reserve(limits_.elements + 1);
        argument_counts_.reserve(limits_.elements + 1);
        packet_.bundles_.reserve(limits_.elements + 1);
        message_counts_.reserve(limits_.elements + 1);
    }
    /// false: see mistake().
    bool run(std::span<const std::byte> packet) {
        packet_.bytes_.clear();
        packet_.args_.clear();
        packet_.messages_.clear();
        packet_.bundles_.clear();
        argument_counts_.clear();
        message_counts_.clear();
        elements_ = 0;
        if (!decode_packet(packet))
            return false;
        connect();
        return true;
    }
    Packet& packet() { return packet_; }
    const char* mistake() const { return mistake_.data(); }

private:
    struct Element {
        size_t begin;
        size_t end;
    };

    [[gnu::format(printf, 3, 4)]] bool fail(size_t at, const char* format, ...) {
        va_list values;
        va_start(values, format);
        std::array<char, 128> what;
        std::vsnprintf(what.data(), what.size(), format, values);
        va_end(values);
        std::snprintf(mistake_.data(), mistake_.size(), "%s at byte %zu", what.data(), at);
        return false;
    }

    bool decode_packet(std::span<const std::byte> packet) {
        const size_t size = packet.size();
        if (size == 0)
            return fail(0, "empty packet");
        if (size > limits_.bytes)
            return fail(limits_.bytes, "packet goes on past the limit");

        packet_.bytes_.assign(packet.begin(), packet.end());
        packet_.bytes_.resize((size + 3) / 4 * 4);
        data_ = packet_.bytes_.data();
        const bool decoded = decode_all({0, packet_.bytes_.size()});
        if (size % 4 == 0)
            return decoded;
        return (decoded && ends_with_blob(size)) || fail(size, "packet size is no multiple of 4: it ends");
    }

    bool decode_all(Element whole) {
        packet_.is_bundle_ = is_bundle(whole);
        if (packet_.is_bundle_)
            return decode_bundle(whole, 1);
        open_bundle(immediately);
        return decode_message(whole);
    }

    /// The one way in which a packet may lack its padding: supercolliderjs leaves it out after a blob, and scsynth
    /// doesn't mind.
    bool ends_with_blob(size_t size) const {
        for (const Arg& arg : packet_.args_)
            if (!packet_.is_bundle_ && arg.type == Arg::Type::blob && arg.b + arg.size == data_ + size)
                return true;
        return false;
    }

    /// First the bundle's own messages, so that they lie side by side, then the bundles in it.
    bool decode_bundle(Element bundle, size_t depth) {
        if (depth > max_bundle_depth)
            return fail(bundle.begin, "bundles nested more than %zu deep", max_bundle_depth);
        if (bundle.end - bundle.begin < bundle_header)
            return fail(bundle.begin, "bundle without time tag");
        open_bundle(load64(bundle.begin + sizeof bundle_word));

        const size_t first = bundle.begin + bundle_header;
        bool has_bundles = false;
        for (size_t pos = first; pos < bundle.end;) {
            Element element;
            if (!read_element(pos, bundle.end, element))
                return false;
            if (is_bundle(element))
                has_bundles = true;
            else if (!decode_message(element))
                return false;
            pos = element.end;
        }
        if (!has_bundles)
            return true;
        for (size_t pos = first; pos < bundle.end;) {
            const Element element{pos + 4, pos + 4 + load32(pos)};
            if (is_bundle(element) && !decode_bundle(element, depth + 1))
                return false;
            pos = element.end;
        }
        return true;
    }

    bool read_element(size_t pos, size_t end, Element& element) {
        const auto size = int32_t(load32(pos));
        const size_t room = end - pos - 4;
        if (size <= 0)
            return fail(pos, "bundle element of size %d", size);
        if (size % 4 != 0)
            return fail(pos, "bundle element size %d is no multiple of 4", size);
        if (size_t(size) > room)
            return fail(pos, "bundle element size %d exceeds the %zu bytes left", size, room);
        if (++elements_ > limits_.elements)
            return fail(pos, "more than %zu bundle elements", limits_.elements);
        element = {pos + 4, pos + 4 + size_t(size)};
        return true;
    }

    bool decode_message(Element message) {
        Message& out = packet_.messages_.emplace_back();
        out.number = -1;
        ++message_counts_.back();
        argument_counts_.push_back(0);

        size_t pos = message.begin;
        if (data_[pos] == std::byte{0}) {
            out.number = int32_t(load32(pos));
            pos += 4;
        } else if (!read_string(pos, message.end, "address", out.address)) {
            return false;
        }
        if (pos == message.end)
            return true;
        if (data_[pos] != std::byte{','})
            return fail(pos, "arguments without type tags");

        const size_t tags_at = pos + 1;
        std::string_view tags;
        if (!read_string(pos, message.end, "type tag string", tags))
            return false;
        tags.remove_prefix(1);
        if (tags.size() > limits_.arguments - packet_.args_.size())
            return fail(tags_at, "more than %zu arguments", limits_.arguments);
        argument_counts_.back() = tags.size();
        if (!check_brackets(tags, tags_at))
            return false;
        for (size_t i = 0; i < tags.size(); ++i)
            if (!decode_argument(tags[i], tags_at + i, pos, message.end))
                return false;
        if (pos != message.end)
            return fail(pos, "%zu bytes after the last argument", message.end - pos);
        return true;
    }

    bool check_brackets(std::string_view tags, size_t tags_at) {
        size_t open = 0;
        size_t outermost = 0;
        for (size_t i = 0; i < tags.size(); ++i) {
            if (tags[i] == '[' && open++ == 0)
                outermost = i;
            if (tags[i] == ']' && open-- == 0)
                return fail(tags_at + i, "type tag ']' without '['");
        }
        return open == 0 || fail(tags_at + outermost, "type tag '[' without ']'");
    }

    bool decode_argument(char tag, size_t tag_at, size_t& pos, size_t end) {
        Arg arg{};
        arg.type = static_cast<Arg::Type>(tag);
        switch (tag) {
        case 'i':
        case 'c':
            if (!has_room(4, tag, pos, end))
                return false;
            arg.i = int32_t(load32(pos));
            pos += 4;
            break;
        case 'f':
            if (!has_room(4, tag, pos, end))
                return false;
            arg.f = std::bit_cast<float>(load32(pos));
            pos += 4;
            break;
        case 'm':
        case 'r':
            if (!has_room(4, tag, pos, end))
                return false;
            std::memcpy(arg.quad.data(), data_ + pos, 4);
            pos += 4;
            break;
        case 'd':
            if (!has_room(8, tag, pos, end))
                return false;
            arg.d = std::bit_cast<double>(load64(pos));
            pos += 8;
            break;
        case 'h':
            if (!has_room(8, tag, pos, end))
                return false;
            arg.h = int64_t(load64(pos));
            pos += 8;
            break;
        case 't':
            if (!has_room(8, tag, pos, end))
                return false;
            arg.t = load64(pos);
            pos += 8;
            break;
        case 's':
        case 'S': {
            std::string_view text;
            if (!read_string(pos, end, "string", text))
                return false;
            arg.type = Arg::Type::string;
            arg.s = text.data();
            arg.size = uint32_t(text.size());
            break;
        }
        case 'b':
            if (!read_blob(pos, end, arg))
                return false;
            break;
        case 'T':
        case 'F':
        case 'N':
        case 'I':
        case '[':
        case ']': break;
        default: return fail(tag_at, "type tag %s unknown", TagName(tag).text.data());
        }
        packet_.args_.push_back(arg);
        return true;
    }

    bool has_room(size_t size, char tag, size_t pos, size_t end) {
        return end - pos >= size || fail(pos, "argument %s cut short", TagName(tag).text.data());
    }

    bool read_blob(size_t& pos, size_t end, Arg& arg) {
        if (!has_room(4, 'b', pos, end))
            return false;
        const auto size = int32_t(load32(pos));
        const size_t room = end - pos - 4;
        if (size < 0 || size_t(size) > room)
            return fail(pos, "blob of size %d with %zu bytes left", size, room);
        arg.b = data_ + pos + 4;
        arg.size = uint32_t(size);
        pos += 4 + (size_t(size) + 3) / 4 * 4;
        return true;
    }

    /// Reads up to the NUL and moves `pos` past the padding.
    bool read_string(size_t& pos, size_t end, const char* what, std::string_view& text) {
        const auto* begin = reinterpret_cast<const char*>(data_ + pos);
        const void* nul = pos < end ? std::memchr(begin, 0, end - pos) : nullptr;
        if (nul == nullptr)
            return fail(pos, "%s %s", what, pos < end ? "without NUL" : "missing");
        text = {begin, size_t(static_cast<const char*>(nul) - begin)};
        pos += (text.size() / 4 + 1) * 4;
        return true;
    }

    bool is_bundle(Element element) const {
        return osc::is_bundle({data_ + element.begin, element.end - element.begin});
    }

    void open_bundle(uint64_t time) {
        packet_.bundles_.push_back({time, {}});
        message_counts_.push_back(0);
    }

    /// Points bundles to their messages and messages to their arguments, now that the tables have
    /// stopped growing.
    void connect() {
        const Arg* arg = packet_.args_.data();
        for (size_t i = 0; i < packet_.messages_.size(); arg += argument_counts_[i++])
            packet_.messages_[i].args = {arg, argument_counts_[i]};
        const Message* message = packet_.messages_.data();
        for (size_t i = 0; i < packet_.bundles_.size(); message += message_counts_[i++])
            packet_.bundles_[i].messages = {message, message_counts_[i]};
    }

    uint32_t load32(size_t at) const {
        uint32_t value = 0;
        for (size_t i = 0; i < 4; ++i)
            value = value << 8 | std::to_integer<uint32_t>(data_[at + i]);
        return value;
    }

    uint64_t load64(size_t at) const { return uint64_t{load32(at)} << 32 | load32(at + 4); }

    const PacketLimits limits_;
    Packet packet_;
    const std::byte* data_ = nullptr; ///< of packet_'s own copy
    size_t elements_ = 0;
    std::vector<size_t> message_counts_;  ///< for each bundle
    std::vector<size_t> argument_counts_; ///< for each message
    std::array<char, 160> mistake_{};
};

bool is_bundle(std::span<const std::byte> packet) noexcept {
    return packet.size() >= sizeof bundle_word && std::memcmp(packet.data(), bundle_word, sizeof bundle_word) == 0;
}

Result<Packet> decode(std::span<const std::byte> packet) {
    Decoder decoder{PacketLimits()};
    if (!decoder.run(packet))
        return Error{decoder.mistake()};
    return std::move(decoder.packet());
}

PacketReader::PacketReader(const PacketLimits& limits) : decoder_(std::make_unique<Decoder>(limits)) {
    decoder_->reserve();
}

PacketReader::~PacketReader() = default;

SCS_UNPROVEN_BEGIN // it decodes into memory that is reserved
const Packet* PacketReader::read(std::span<const std::byte> packet) noexcept {
    return decoder_->run(packet) ? &decoder_->packet() : nullptr;
}
SCS_UNPROVEN_END

} // namespace scs::osc
