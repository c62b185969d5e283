// SPDX-License-Identifier: GPL-3.0-or-later
#include "osc/codec/dump.hpp"

#include "engine/base/printable.hpp"

#include <cstdio>

namespace scs::osc {
namespace {

constexpr bool is_printable(unsigned char c) {
    return c >= 0x20 && c < 0x7f;
}

template <class... Values>
void append_format(std::string& out, const char* format, Values... values) {
    char text[64];
    std::snprintf(text, sizeof text, format, values...);
    out += text;
}

void append_quad(std::string& out, const char* name, const Arg& arg) {
    append_format(out, "%s[0x%02x 0x%02x 0x%02x 0x%02x]", name, arg.quad[0], arg.quad[1], arg.quad[2], arg.quad[3]);
}

void append_argument(std::string& out, const Arg& arg) {
    switch (arg.type) {
    case Arg::Type::int32: out += std::to_string(arg.i); break;
    case Arg::Type::float32: append_format(out, "%g", double(arg.f)); break;
    case Arg::Type::float64: append_format(out, "%g", arg.d); break;
    case Arg::Type::int64: out += std::to_string(arg.h); break;
    case Arg::Type::timetag: out += std::to_string(arg.t); break;
    case Arg::Type::string:
        out += '"';
        out += printable(arg.text());
        out += '"';
        break;
    case Arg::Type::blob: out += "DATA[" + std::to_string(arg.size) + "]"; break;
    case Arg::Type::true_: out += "true"; break;
    case Arg::Type::false_: out += "false"; break;
    case Arg::Type::nil: out += "nil"; break;
    case Arg::Type::infinitum: out += "infinitum"; break;
    case Arg::Type::chr: out += arg.i >= 0x20 && arg.i < 0x7f ? char(arg.i) : '?'; break;
    case Arg::Type::midi: append_quad(out, "MIDI", arg); break;
    case Arg::Type::rgba: append_quad(out, "RGBA", arg); break;
    case Arg::Type::array_begin: out += '['; break;
    case Arg::Type::array_end: out += ']'; break;
    }
}

void append_message(std::string& out, const Message& message) {
    out += "[ ";
    if (message.number >= 0) {
        out += std::to_string(message.number);
    } else {
        out += '"';
        out += printable(message.address);
        out += '"';
    }
    out += ',';
    for (size_t i = 0; i < message.args.size(); ++i) {
        out += ' ';
        append_argument(out, message.args[i]);
        if (i + 1 < message.args.size() && message.args[i].type != Arg::Type::array_begin)
            out += ',';
    }
    out += " ]";
}

bool is_poll(const Message& message) {
    return message.name() == "status";
}

/// Writes the tree in the order of the bytes. The tables have a bundle's messages before the
/// bundles in it, but each of the two kinds in the bytes' order.
class TreePrinter {
public:
    TreePrinter(std::string& out, std::span<const PacketBundle> bundles) : out_(out), next_(bundles) {}

    /// `bytes` is a bundle that decode() has accepted.
    void print(std::span<const std::byte> bytes, size_t indent) {
        const PacketBundle& bundle = next_.front();
        next_ = next_.subspan(1);
        out_ += "[ \"#bundle\", " + std::to_string(bundle.time) + ", ";
        auto message = bundle.messages.begin();
        bytes = bytes.subspan(16);
        while (!bytes.empty()) {
            size_t size = 0;
            for (const std::byte b : bytes.first(4))
                size = size << 8 | std::to_integer<size_t>(b);
            const auto element = bytes.subspan(4, size);
            bytes = bytes.subspan(4 + size);

            new_line(indent + 1);
            if (is_bundle(element))
                print(element, indent + 1);
            else if (const Message& next = *message++; is_poll(next))
                continue;
            else
                append_message(out_, next);
            if (!bytes.empty())
                out_ += ',';
        }
        new_line(indent);
        out_ += ']';
    }

private:
    void new_line(size_t indent) {
        out_ += '\n';
        out_.append(2 * indent, ' ');
    }

    std::string& out_;
    std::span<const PacketBundle> next_;
};

} // namespace

std::string to_text(const Packet& packet) {
    std::string out;
    if (packet.is_bundle())
        TreePrinter(out, packet.bundles()).print(packet.bytes(), 0);
    else if (!is_poll(packet.messages().front()))
        append_message(out, packet.messages().front());
    if (!out.empty())
        out += '\n';
    return out;
}

std::string to_hex(std::span<const std::byte> bytes) {
    constexpr size_t width = 16;
    std::string out = "size " + std::to_string(bytes.size()) + "\n";
    for (size_t row = 0; row < bytes.size(); row += width) {
        append_format(out, "%4zu   ", row);
        std::string ascii;
        for (size_t i = row; i < row + width; ++i) {
            if (i < bytes.size()) {
                const auto code = std::to_integer<unsigned char>(bytes[i]);
                append_format(out, "%02x ", code);
                ascii += is_printable(code) ? char(code) : '.';
            } else {
                out += "   ";
            }
            if (i % 4 == 3 && i % width != width - 1)
                out += ' ';
        }
        out += "  |" + ascii + "|\n";
    }
    return out + "\n";
}

} // namespace scs::osc
