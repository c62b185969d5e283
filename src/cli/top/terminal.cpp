// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/top/terminal.hpp"

#include <clocale>
#include <cstdlib>
#include <cstring>
#include <cwchar>
#include <cwctype>
#include <langinfo.h>
#include <sys/ioctl.h>
#include <unistd.h>

// Last: without this it defines macros with names such as `timeout`.
#define NCURSES_NOMACROS 1
#define NCURSES_WIDECHAR 1
#include <curses.h>

namespace scs::top {

namespace {

constexpr int escape_time = 50; ///< ms after which an escape is the key, not the beginning of another

attr_t attributes_of(ScreenLine::Style style) {
    switch (style) {
    case ScreenLine::Style::strong: return A_BOLD;
    case ScreenLine::Style::reverse: return A_REVERSE;
    case ScreenLine::Style::plain: break;
    }
    return A_NORMAL;
}

/// All that is shown is UTF-8. Numbers stay as in the C locale.
void use_utf8() {
    std::setlocale(LC_CTYPE, "");
    if (std::strcmp(::nl_langinfo(CODESET), "UTF-8") != 0)
        std::setlocale(LC_CTYPE, "C.UTF-8");
}

std::optional<Key> function_key(wint_t code) {
    switch (code) {
    case KEY_UP: return Key{Key::Kind::up, ""};
    case KEY_DOWN: return Key{Key::Kind::down, ""};
    case KEY_PPAGE: return Key{Key::Kind::page_up, ""};
    case KEY_NPAGE: return Key{Key::Kind::page_down, ""};
    case KEY_HOME:
    case KEY_FIND: return Key{Key::Kind::home, ""};
    case KEY_END:
    case KEY_SELECT: return Key{Key::Kind::end, ""};
    case KEY_ENTER: return Key{Key::Kind::enter, ""};
    case KEY_BACKSPACE: return Key{Key::Kind::erase, ""};
    default: return {};
    }
}

std::optional<Key> character(wint_t code) {
    switch (code) {
    case '\r':
    case '\n': return Key{Key::Kind::enter, ""};
    case '\x7f':
    case '\b': return Key{Key::Kind::erase, ""};
    case '\x1b': return Key{Key::Kind::escape, ""};
    default: break;
    }
    char bytes[16]; // MB_LEN_MAX
    std::mbstate_t state{};
    const size_t count = std::iswprint(code) ? std::wcrtomb(bytes, wchar_t(code), &state) : size_t(-1);
    if (count == size_t(-1))
        return {};
    return Key{Key::Kind::text, {bytes, count}};
}

} // namespace

bool Terminal::there() {
    return ::isatty(STDIN_FILENO) && ::isatty(STDOUT_FILENO);
}

Result<std::unique_ptr<Terminal>> Terminal::open() {
    use_utf8();
    ::use_env(true);
    ::use_tioctl(true); // LINES and COLUMNS of the environment are of use only where the terminal doesn't tell
    ::screen* const taken = ::newterm(nullptr, stdout, stdin);
    if (!taken) {
        const char* kind = std::getenv("TERM");
        return Error{"top: a terminal of this kind isn't known (TERM=" + std::string(kind ? kind : "") +
                     "); --once prints one sample"};
    }
    ::cbreak();
    ::noecho();
    ::nonl();
    ::curs_set(0);
    ::set_escdelay(escape_time);
    ::keypad(stdscr, true);
    ::nodelay(stdscr, true);
    return std::unique_ptr<Terminal>(new Terminal(taken));
}

Terminal::~Terminal() {
    give_back();
    ::delscreen(screen_);
}

void Terminal::give_back() {
    if (!::isendwin())
        ::endwin();
}

void Terminal::take() {
    adapt();
    ::clearok(stdscr, true); // others may have written there
    ::refresh();
}

Size Terminal::size() const {
    winsize found{};
    Size size;
    if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &found) == 0 && found.ws_col > 0 && found.ws_row > 0)
        size = {found.ws_col, found.ws_row};
    return size;
}

void Terminal::adapt() {
    const Size now = size();
    ::resizeterm(now.rows, now.columns);
}

void Terminal::show(const std::vector<ScreenLine>& lines) {
    ::erase();
    for (size_t i = 0; i < lines.size(); ++i) {
        ::move(int(i), 0);
        ::clrtoeol(); // a character may be wider than it was counted, so that the line above went on here
        ::attrset(int(attributes_of(lines[i].style)));
        ::addstr(lines[i].text.c_str());
        ::attrset(A_NORMAL);
    }
    ::refresh();
}

std::optional<Key> Terminal::read() {
    wint_t code = 0;
    for (int kind = ::get_wch(&code); kind != ERR; kind = ::get_wch(&code))
        if (auto key = kind == KEY_CODE_YES ? function_key(code) : character(code))
            return key;
    return {};
}

} // namespace scs::top
