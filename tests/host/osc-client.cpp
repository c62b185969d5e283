// SPDX-License-Identifier: GPL-3.0-or-later
#include "osc-client.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <stdexcept>

namespace scs::test {
namespace {

void put(Bytes& to, uint64_t value, int bytes) {
    for (int i = bytes - 1; i >= 0; --i)
        to.push_back(std::byte(value >> (8 * i)));
}

void put(Bytes& to, float value) {
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    put(to, bits, 4);
}

void append(Bytes& to, const void* data, size_t size) {
    const auto* bytes = static_cast<const std::byte*>(data);
    to.insert(to.end(), bytes, bytes + size);
}

/// An OSC string: with a terminator, padded to a multiple of four bytes.
void put_string(Bytes& to, const std::string& text) {
    append(to, text.c_str(), text.size() + 1);
    to.resize((to.size() + 3) & ~size_t(3));
}

/// A string as in SynthDef files: its length first.
void put_name(Bytes& to, const std::string& name) {
    put(to, name.size(), 1);
    append(to, name.data(), name.size());
}

} // namespace

Bytes osc_message(const std::string& address, const std::vector<OscArg>& args) {
    Bytes message;
    put_string(message, address);
    std::string types = ",";
    for (const OscArg& arg : args) {
        if (const auto* floats = std::get_if<Floats>(&arg))
            types += '[' + std::string(floats->size(), 'f') + ']';
        else
            types += "ifsb"[arg.index()];
    }
    put_string(message, types);
    for (const OscArg& arg : args) {
        if (const auto* number = std::get_if<int32_t>(&arg))
            put(message, uint32_t(*number), 4);
        else if (const auto* real = std::get_if<float>(&arg))
            put(message, *real);
        else if (const auto* text = std::get_if<std::string>(&arg))
            put_string(message, *text);
        else if (const auto* floats = std::get_if<Floats>(&arg))
            for (const float each : *floats)
                put(message, each);
        else {
            const Bytes& blob = std::get<Bytes>(arg);
            put(message, blob.size(), 4);
            append(message, blob.data(), blob.size());
            message.resize((message.size() + 3) & ~size_t(3));
        }
    }
    return message;
}

Bytes osc_bundle(NtpTime time, const std::vector<Bytes>& messages) {
    Bytes bundle;
    put_string(bundle, "#bundle");
    put(bundle, time, 8);
    for (const Bytes& message : messages) {
        put(bundle, message.size(), 4);
        append(bundle, message.data(), message.size());
    }
    return bundle;
}

Bytes synthdef_file(const std::string& name, const std::vector<DefUnit>& units, uint32_t controls) {
    std::vector<float> constants;
    for (const DefUnit& unit : units)
        for (const DefUnit::Input& input : unit.inputs)
            if (input.unit < 0)
                constants.push_back(input.value);
    Bytes file;
    append(file, "SCgf", 4);
    put(file, 2, 4);
    put(file, 1, 2);
    put_name(file, name);
    put(file, constants.size(), 4);
    for (const float constant : constants)
        put(file, constant);
    put(file, controls, 4);
    for (uint32_t i = 0; i < controls; ++i)
        put(file, 0.f);
    put(file, 0, 4); // names of controls
    put(file, units.size(), 4);
    uint32_t constant = 0;
    for (const DefUnit& unit : units) {
        put_name(file, unit.name);
        put(file, unit.rate, 1);
        put(file, unit.inputs.size(), 4);
        put(file, unit.has_output ? 1 : 0, 4);
        put(file, 0, 2);
        for (const DefUnit::Input& input : unit.inputs) {
            put(file, uint32_t(input.unit), 4);
            put(file, input.unit < 0 ? constant++ : 0, 4);
        }
        if (unit.has_output)
            put(file, unit.rate, 1);
    }
    put(file, 0, 2); // variants
    return file;
}

OscClient::OscClient(int port) : socket_(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(uint16_t(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) < 0)
        throw std::runtime_error("connect");
}

OscClient::~OscClient() {
    close(socket_);
}

void OscClient::send(const Bytes& packet) {
    if (::send(socket_, packet.data(), packet.size(), 0) != ssize_t(packet.size()))
        throw std::runtime_error("send");
}

std::string OscClient::receive(int timeout_ms, int32_t* last) {
    pollfd ready = {socket_, POLLIN, 0};
    if (poll(&ready, 1, timeout_ms) != 1)
        return {};
    char packet[65536];
    const ssize_t size = recv(socket_, packet, sizeof packet - 1, 0);
    packet[size < 0 ? 0 : size] = 0;
    if (last && size >= 4) {
        uint32_t bytes;
        std::memcpy(&bytes, packet + size - 4, sizeof bytes);
        *last = int32_t(ntohl(bytes));
    }
    return packet;
}

bool OscClient::sync() {
    send(osc_message("/sync", {++syncs_}));
    for (std::string address; address != "/synced";)
        if ((address = receive()).empty())
            return false;
    return true;
}

} // namespace scs::test
