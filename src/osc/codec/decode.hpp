// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/nonblocking.hpp"
#include "engine/base/result.hpp"
#include "engine/rt/ntp-time.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace scs::osc {

/// One argument. Strings and blobs point into the bytes of the packet that holds the argument.
struct Arg {
    /// The values are the type tags of the wire; the tag `S` (symbol) is read as a string.
    enum class Type : uint8_t {
        int32 = 'i',
        float32 = 'f',
        float64 = 'd',
        int64 = 'h',
        timetag = 't',
        string = 's',
        blob = 'b',
        true_ = 'T',
        false_ = 'F',
        nil = 'N',
        infinitum = 'I',
        chr = 'c',
        midi = 'm',
        rgba = 'r',
        array_begin = '[',
        array_end = ']',
    };

    Type type;
    uint32_t size; ///< bytes of a string (without its NUL) or of a blob; otherwise 0
    union {
        int32_t i;                   ///< int32, chr
        float f;                     ///< float32
        double d;                    ///< float64
        int64_t h;                   ///< int64
        uint64_t t;                  ///< timetag (NTP)
        const char* s;               ///< string, ends in a NUL
        const std::byte* b;          ///< blob
        std::array<uint8_t, 4> quad; ///< midi (port, status, data, data), rgba
    };

    /// The text of a string; only for Type::string.
    std::string_view text() const noexcept { return {s, size}; }
    /// The content of a blob; only for Type::blob.
    std::span<const std::byte> bytes() const noexcept { return {b, size}; }
};

/// What `bytes` bytes take on the wire, where everything is padded to a multiple of 4. [any]
constexpr uint64_t padded(uint64_t bytes) noexcept {
    return (bytes + 3) & ~uint64_t{3};
}

/// Whether a time tag means "now": scsynth takes 0 for that, too.
constexpr bool is_immediate(NtpTime time) noexcept {
    return time <= immediately;
}

struct Message {
    std::string_view address;  ///< as sent, with or without a slash; empty if `number` is not -1
    int32_t number;            ///< the command's number (>= 0), or -1 if the address is text
    std::span<const Arg> args; ///< in order; the brackets of arrays are balanced

    /// The address without its leading slash: what commands are looked up by, since scsynth takes
    /// "status" for "/status". Replies quote `address`, what the client sent.
    constexpr std::string_view name() const noexcept { return address.starts_with('/') ? address.substr(1) : address; }
};

/// A bundle as it stands in a packet, decoded; the engine's CommandBundle of commands is made of it.
struct PacketBundle {
    NtpTime time; ///< as sent
    std::span<const Message> messages;
};

inline constexpr size_t max_bundle_depth = 16;    ///< the outermost bundle has depth 1
inline constexpr size_t max_elements = 65536;     ///< messages and bundles of a packet
inline constexpr size_t max_arguments = 1u << 20; ///< of all messages of a packet
inline constexpr size_t max_packet_size = 1u << 30;

/// The most that a packet may have.
struct PacketLimits {
    size_t bytes = max_packet_size;
    size_t elements = max_elements;
    size_t arguments = max_arguments;
};

class Decoder;

/// A decoded packet: a copy of the bytes and flat tables that point into it. Move only; a move
/// keeps every pointer, span and view that was taken from it valid.
class Packet {
public:
    Packet(Packet&&) noexcept = default;
    Packet& operator=(Packet&&) noexcept = default;

    /// The packet as it was sent, with the padding of its last blob if that was left out.
    std::span<const std::byte> bytes() const noexcept { return bytes_; }
    /// False for a message without a bundle, which bundles() shows as one bundle to be run immediately.
    bool is_bundle() const noexcept { return is_bundle_; }
    /// Each bundle of the packet, never none, in the order in which scsynth queues them: the
    /// outermost with its own messages, then, depth first, those nested in it.
    ///
    /// A nested bundle is a bundle in its own right: scsynth takes the nested ones out of a packet
    /// when it receives it and runs each at its own time tag; of two with the same time, the outer
    /// one's messages come first. (That is what its code intends: 3.13 garbles a bundle that has both
    /// messages and bundles.)
    std::span<const PacketBundle> bundles() const noexcept { return bundles_; }
    /// The messages of all bundles, in the order of bundles().
    std::span<const Message> messages() const noexcept { return messages_; }
    /// Bytes of memory that it takes.
    size_t memory() const noexcept {
        return bytes_.capacity() + args_.capacity() * sizeof(Arg) + messages_.capacity() * sizeof(Message) +
               bundles_.capacity() * sizeof(PacketBundle);
    }

private:
    friend class Decoder;
    Packet() = default;

    std::vector<std::byte> bytes_;
    std::vector<Arg> args_;
    std::vector<Message> messages_;
    std::vector<PacketBundle> bundles_;
    bool is_bundle_ = false;
};

/// True if the bytes begin as a bundle does; says nothing about the rest. [any]
bool is_bundle(std::span<const std::byte> packet) noexcept;

/// Decodes one datagram, one TCP frame or one completion message (a blob's content).
///
/// A malformed element anywhere rejects the whole packet, so that bad input changes nothing
/// (scsynth would run the elements before it). The error says what is wrong and at which byte of
/// the packet. Stricter than scsynth also in this: arguments need a type tag string (an address
/// alone is a message without arguments), array brackets must balance, and nothing may follow the
/// last argument. As lenient as scsynth in this: padding may hold any bytes.
///
/// Takes time and memory linear in the size of `packet`. Allocates. [osc] [worker]
Result<Packet> decode(std::span<const std::byte> packet);

/// Decodes one packet after the other in the same memory.
class PacketReader {
public:
    /// [any but rt] Takes the memory.
    explicit PacketReader(const PacketLimits&);
    ~PacketReader();

    /// [rt] As decode(). Null: the packet is malformed, or more than the limits. The last one is gone.
    const Packet* read(std::span<const std::byte> packet) noexcept SCS_NONBLOCKING;

private:
    std::unique_ptr<Decoder> decoder_;
};

} // namespace scs::osc
