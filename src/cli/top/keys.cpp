// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/top/keys.hpp"

#include <algorithm>

namespace scs::top {

namespace {

using Kind = Key::Kind;

constexpr size_t longest_filter = 255; // as the longest name of a SynthDef

void type(const Key& key, View& view) {
    switch (key.kind) {
    case Kind::text:
        if (view.filter.size() + key.text.size() <= longest_filter)
            view.filter += key.text;
        break;
    case Kind::erase:
        while (!view.filter.empty() && (view.filter.back() & 0xc0) == 0x80)
            view.filter.pop_back();
        if (!view.filter.empty())
            view.filter.pop_back();
        break;
    case Kind::escape:
        view.filter.clear();
        view.typing = false;
        break;
    case Kind::enter: view.typing = false; break;
    default: break;
    }
    view.first_row = 0;
}

void scroll(View& view, int rows, const Extent& extent) {
    view.first_row = std::clamp(view.first_row + rows, 0, std::max(extent.rows - extent.page, 0));
}

void fold(View& view, int change, const Extent& extent) {
    const int depth = std::clamp(std::min(view.depth, extent.deepest) + change, 0, extent.deepest);
    view.depth = depth == extent.deepest ? View::all_depths : depth;
}

bool press_letter(char letter, View& view, const Extent& extent) {
    switch (letter) {
    case 'q': return false;
    case 'h':
    case '?': view.help = !view.help; break;
    case 'p':
    case ' ': view.held = !view.held; break;
    case 'c': view.sort = Sort::cost; break;
    case 'v': view.sort = Sort::voices; break;
    case 'n': view.sort = Sort::name; break;
    case 's':
        view.sort = view.sort == Sort::cost ? Sort::voices : view.sort == Sort::voices ? Sort::name : Sort::cost;
        break;
    case '/':
        view.typing = true;
        view.help = false;
        break;
    case '+':
    case '=': fold(view, 1, extent); break;
    case '-': fold(view, -1, extent); break;
    default: break;
    }
    return true;
}

} // namespace

bool press(const Key& key, View& view, const Extent& extent) {
    if (view.typing) {
        type(key, view);
        return true;
    }
    switch (key.kind) {
    case Kind::text: return key.text.size() != 1 || press_letter(key.text[0], view, extent);
    case Kind::escape:
        view.help = false;
        view.filter.clear();
        break;
    case Kind::up: scroll(view, -1, extent); break;
    case Kind::down: scroll(view, 1, extent); break;
    case Kind::page_up: scroll(view, -extent.page, extent); break;
    case Kind::page_down: scroll(view, extent.page, extent); break;
    case Kind::home: view.first_row = 0; break;
    case Kind::end: scroll(view, extent.rows, extent); break;
    case Kind::enter:
    case Kind::erase: break;
    }
    return true;
}

} // namespace scs::top
