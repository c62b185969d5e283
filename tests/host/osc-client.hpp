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
using Floats = std::vector<float>; ///< an array
using OscArg = std::variant<int32_t, float, std::string, Bytes, Floats>;

/// An OSC message, and a bundle of such messages.
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
    uint8_t rate = 2; ///< 0 scalar, 1 control, 2 audio
};
/// A SynthDef file with one definition. Its `controls` have no names.
Bytes synthdef_file(const std::string& name, const std::vector<DefUnit>& units, uint32_t controls = 0);

/// A UDP client of a server on this machine.
class OscClient {
public:
    explicit OscClient(int port);
    ~OscClient();
    OscClient(const OscClient&) = delete;
    OscClient& operator=(const OscClient&) = delete;

    void send(const Bytes& packet);
    /// The address of the next packet, or "" if none arrives in time. `last` gets its last four bytes, which are a
    /// number if the last argument is one.
    std::string receive(int timeout_ms = 5000, int32_t* last = nullptr);
    /// Waits until everything sent has been carried out. Returns false if there is no answer.
    bool sync();

private:
    int socket_;
    int32_t syncs_ = 0;
};

} // namespace scs::test
