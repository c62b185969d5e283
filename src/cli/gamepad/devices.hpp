// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "cli/gamepad/move.hpp"
#include "engine/base/result.hpp"

#include <memory>
#include <string>
#include <vector>

namespace scs::gamepad {

/// What has come of devices.
struct News {
    struct Told {
        int device; ///< 1 to 127
        Move move;
    };
    std::vector<Told> moves;
    std::vector<std::string> lines; ///< which devices have come and gone
};

/// The devices in /dev/input that are played, those that come later among them.
class Devices {
public:
    /// `wanted`: paths, or parts of names, each for one device, whose number is its place, from 1 on. None: whatever
    /// is_played(), with the lowest numbers that are free. An error is a sentence.
    static Result<std::unique_ptr<Devices>> open(std::vector<std::string> wanted);
    virtual ~Devices() = default;

    /// To be polled for input: something is there to read().
    virtual int fd() const = 0;
    /// What has come since the last time; of a new device all that is pressed, and where its axes are.
    virtual News read() = 0;
    /// What makes up for all that is pressed.
    virtual News release() = 0;
    /// If there is no device: why, and what to do. Else empty.
    virtual std::string missing() const = 0;
};

} // namespace scs::gamepad
