// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/result.hpp"
#include "engine/world/pointer.hpp"

#include <memory>
#include <optional>
#include <string>

namespace scs::pointer {

/// The pointer of an X display. An X server without XInput 2 has none for us.
class Display {
public:
    /// That of $DISPLAY. `keys`: its keyboard, too. An error is a sentence.
    static Result<std::unique_ptr<Display>> open(bool keys);
    virtual ~Display() = default;

    /// To be polled for input: something is there to read() when the pointer has moved, or a button or key has changed.
    virtual int fd() const = 0;
    /// Reads what has come. False: the connection is lost.
    virtual bool read() = 0;
    /// Whether input came while look() waited for its answer: fd() doesn't show that. Takes it.
    virtual bool came_meanwhile() = 0;
    /// Asks where the pointer is, and which keys are down. Nothing: the connection is lost, or the pointer is on
    /// another screen.
    virtual std::optional<Pointer> look() = 0;
};

} // namespace scs::pointer
