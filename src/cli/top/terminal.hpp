// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "cli/top/screen.hpp"

#include <string>
#include <vector>

#include <termios.h>

namespace scs::top {

/// The terminal of standard input and output, taken over as long as this object lives: keys come one by one and
/// unseen, and pictures have a screen of their own, behind which the former one comes back.
class Terminal {
public:
    /// Whether both are terminals.
    static bool there();

    Terminal() { take(); }
    Terminal(const Terminal&) = delete;
    Terminal& operator=(const Terminal&) = delete;
    ~Terminal() { give_back(); }

    /// Around a pause in which others use the terminal.
    void give_back();
    void take();

    Size size() const;
    void show(const std::vector<ScreenLine>&);
    /// Adds what was typed. False: the terminal is gone.
    bool read(std::string& input) const;

private:
    void write(const std::string& text);

    termios former_{};
    bool taken_ = false;
};

} // namespace scs::top
