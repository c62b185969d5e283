// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/top/terminal.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>
#include <sys/ioctl.h>
#include <unistd.h>

namespace scs::top {

namespace {

// A screen of its own, no cursor, and no wrapping: a character may be wider than it was counted.
constexpr const char* begin_screen = "\x1b[?1049h\x1b[?25l\x1b[?7l";
constexpr const char* end_screen = "\x1b[?7h\x1b[?25h\x1b[?1049l";

const char* begin_style(ScreenLine::Style style) {
    switch (style) {
    case ScreenLine::Style::strong: return "\x1b[1m";
    case ScreenLine::Style::reverse: return "\x1b[7m";
    case ScreenLine::Style::plain: break;
    }
    return "";
}

} // namespace

bool Terminal::there() {
    return ::isatty(STDIN_FILENO) && ::isatty(STDOUT_FILENO);
}

void Terminal::take() {
    if (taken_ || ::tcgetattr(STDIN_FILENO, &former_) != 0)
        return;
    termios raw = former_;
    raw.c_lflag &= ~tcflag_t(ICANON | ECHO);
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    taken_ = ::tcsetattr(STDIN_FILENO, TCSADRAIN, &raw) == 0;
    if (taken_)
        write(begin_screen);
}

void Terminal::give_back() {
    if (!taken_)
        return;
    taken_ = false;
    write(end_screen);
    ::tcsetattr(STDIN_FILENO, TCSADRAIN, &former_);
}

Size Terminal::size() const {
    winsize found{};
    Size size;
    if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &found) == 0 && found.ws_col > 0 && found.ws_row > 0)
        size = {found.ws_col, found.ws_row};
    return size;
}

void Terminal::show(const std::vector<ScreenLine>& lines) {
    std::string text = "\x1b[H";
    for (size_t i = 0; i < lines.size(); ++i) {
        const char* style = begin_style(lines[i].style);
        // Erased before it is written: behind a line of full width the cursor stands on the last character.
        text += std::string(i ? "\r\n" : "") + "\x1b[K" + style + lines[i].text + (*style ? "\x1b[m" : "");
    }
    write(text + "\x1b[J");
}

bool Terminal::read(std::string& input) const {
    std::array<char, 256> bytes;
    const ssize_t count = ::read(STDIN_FILENO, bytes.data(), bytes.size());
    if (count <= 0)
        return count < 0 && (errno == EINTR || errno == EAGAIN);
    input.append(bytes.data(), size_t(count));
    return true;
}

void Terminal::write(const std::string& text) {
    std::string_view rest = text;
    while (!rest.empty()) {
        const ssize_t count = ::write(STDOUT_FILENO, rest.data(), rest.size());
        if (count < 0 && errno != EINTR)
            return; // it is gone, as reading will tell
        rest.remove_prefix(size_t(std::max<ssize_t>(count, 0)));
    }
}

} // namespace scs::top
