// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/rt/ntp-time.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace scs::test {

using Bytes = std::vector<std::byte>;
using OscArg = std::variant<int32_t, float, std::string, Bytes>;

/// An OSC message, and a bundle of some.
Bytes osc_message(const std::string& address, const std::vector<OscArg>& args = {});
Bytes osc_bundle(NtpTime time, const std::vector<Bytes>& messages);

/// A unit of a SynthDef: at audio rate with one output, or none.
struct DefUnit {
    std::string name;
    struct Input {
        int unit;    ///< -1: a constant
        float value; ///< the constant
    };
    std::vector<Input> inputs;
    bool has_output = true;
};
/// A SynthDef file with one definition.
Bytes synthdef_file(const std::string& name, const std::vector<DefUnit>& units);

/// A client of a server on this machine, by UDP.
class OscClient {
public:
    explicit OscClient(int port);
    ~OscClient();
    OscClient(const OscClient&) = delete;
    OscClient& operator=(const OscClient&) = delete;

    void send(const Bytes& packet);
    /// The address of the next packet that comes, or "" if none does in time.
    std::string receive(int timeout_ms = 5000);
    /// Waits until all that was sent has been carried out. False if that isn't answered.
    bool sync();

private:
    int socket_;
    int32_t syncs_ = 0;
};

} // namespace scs::test
