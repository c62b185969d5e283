// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "cli/top/keys.hpp"
#include "cli/top/screen.hpp"
#include "engine/base/result.hpp"

#include <memory>
#include <optional>
#include <vector>

struct screen; // curses's

namespace scs::top {

/// The terminal of standard input and output, taken over by curses as long as this object lives: keys come one by one
/// and unseen, and pictures have a screen of their own, after which the former one comes back. One a process. [main]
class Terminal {
public:
    /// Whether both are terminals.
    static bool there();
    /// Takes it. Error: curses doesn't know its kind.
    static Result<std::unique_ptr<Terminal>> open();

    Terminal(const Terminal&) = delete;
    Terminal& operator=(const Terminal&) = delete;
    ~Terminal();

    /// Around a pause in which others use the terminal.
    void give_back();
    void take();

    Size size() const;
    /// To be called when the size has changed.
    void adapt();
    void show(const std::vector<ScreenLine>&);
    /// The next key that was typed and is of use; none: no other was typed. Waits for 50 ms after an escape, which may
    /// be the beginning of another key.
    std::optional<Key> read();

private:
    explicit Terminal(::screen* taken) : screen_(taken) {}

    ::screen* screen_;
};

} // namespace scs::top
