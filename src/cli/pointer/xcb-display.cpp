// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/pointer/display.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <xcb/xcb.h>
#include <xcb/xinput.h>

namespace scs::pointer {

namespace {

struct Free {
    void operator()(void* memory) const { std::free(memory); }
};
template <class T>
using Reply = std::unique_ptr<T, Free>;

constexpr uint16_t xinput_major = 2, xinput_minor = 2; // raw events come whoever has grabbed the pointer

class XcbDisplay final : public Display {
public:
    explicit XcbDisplay(bool keys) : keys_(keys), connection_(xcb_connect(nullptr, &screen_number_)) {}
    ~XcbDisplay() override { xcb_disconnect(connection_); }

    /// An error, or nothing.
    std::string begin() {
        const char* const name = std::getenv("DISPLAY");
        if (lost())
            return name && *name ? std::string("there is no X display ") + name
                                 : "there is no X display: DISPLAY isn't set";
        auto screens = xcb_setup_roots_iterator(xcb_get_setup(connection_));
        for (int i = 0; i < screen_number_ && screens.rem > 1; ++i)
            xcb_screen_next(&screens);
        root_ = screens.data->root;
        return select_events() ? "" : "the X display has no XInput 2.2";
    }

    int fd() const override { return xcb_get_file_descriptor(connection_); }

    bool read() override {
        while (Reply<xcb_generic_event_t>(xcb_poll_for_event(connection_))) {
        }
        return !lost();
    }

    bool came_meanwhile() override {
        bool any = false;
        while (Reply<xcb_generic_event_t>(xcb_poll_for_queued_event(connection_)))
            any = true;
        return any;
    }

    std::optional<Pointer> look() override {
        // The size is asked for each time, as screens come and go.
        const auto size_asked = xcb_get_geometry(connection_, root_);
        const auto place_asked = xcb_query_pointer(connection_, root_);
        const Reply<xcb_get_geometry_reply_t> size(xcb_get_geometry_reply(connection_, size_asked, nullptr));
        const Reply<xcb_query_pointer_reply_t> place(xcb_query_pointer_reply(connection_, place_asked, nullptr));
        if (!size || !place || !place->same_screen || !size->width || !size->height)
            return {};
        const auto part = [](int pixels, int all) { return std::clamp(float(pixels) / float(all), 0.f, 1.f); };
        Pointer found{part(place->root_x, size->width), 1.f - part(place->root_y, size->height),
                      (place->mask & XCB_KEY_BUT_MASK_BUTTON_1) != 0};
        if (keys_) {
            const Reply<xcb_query_keymap_reply_t> down(
                xcb_query_keymap_reply(connection_, xcb_query_keymap(connection_), nullptr));
            if (!down)
                return {};
            std::copy(std::begin(down->keys), std::end(down->keys), found.keys.begin());
        }
        return found;
    }

private:
    bool lost() const { return xcb_connection_has_error(connection_) != 0; }

    bool select_events() {
        const xcb_query_extension_reply_t* const extension = xcb_get_extension_data(connection_, &xcb_input_id);
        if (!extension || !extension->present)
            return false;
        const Reply<xcb_input_xi_query_version_reply_t> version(xcb_input_xi_query_version_reply(
            connection_, xcb_input_xi_query_version(connection_, xinput_major, xinput_minor), nullptr));
        if (!version || version->major_version != xinput_major || version->minor_version < xinput_minor)
            return false;
        struct {
            xcb_input_event_mask_t head{XCB_INPUT_DEVICE_ALL_MASTER, 1};
            uint32_t events = XCB_INPUT_XI_EVENT_MASK_RAW_MOTION | XCB_INPUT_XI_EVENT_MASK_RAW_BUTTON_PRESS |
                              XCB_INPUT_XI_EVENT_MASK_RAW_BUTTON_RELEASE;
        } mask;
        if (keys_)
            mask.events |= XCB_INPUT_XI_EVENT_MASK_RAW_KEY_PRESS | XCB_INPUT_XI_EVENT_MASK_RAW_KEY_RELEASE;
        const Reply<xcb_generic_error_t> error(
            xcb_request_check(connection_, xcb_input_xi_select_events_checked(connection_, root_, 1, &mask.head)));
        return !error && !lost();
    }

    const bool keys_;
    int screen_number_ = 0;
    xcb_connection_t* connection_;
    xcb_window_t root_ = 0;
};

} // namespace

Result<std::unique_ptr<Display>> Display::open(bool keys) {
    auto display = std::make_unique<XcbDisplay>(keys);
    if (std::string error = display->begin(); !error.empty())
        return Error{std::move(error)};
    return std::unique_ptr<Display>(std::move(display));
}

} // namespace scs::pointer
