// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/gamepad/devices.hpp"

namespace scs::gamepad {

Result<std::unique_ptr<Devices>> Devices::open(std::vector<std::string>) {
    return Error{"it was built without libevdev, which reads gamepads"};
}

} // namespace scs::gamepad
