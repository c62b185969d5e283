// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/gamepad/devices.hpp"

#include "engine/base/descriptors.hpp"
#include "engine/base/printable.hpp"
#include "engine/control/control-event.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <iterator>
#include <libevdev/libevdev.h>
#include <poll.h>
#include <set>
#include <string_view>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace scs::gamepad {

namespace {

constexpr const char* folder = "/dev/input";

struct Free {
    void operator()(libevdev* device) const { libevdev_free(device); }
    void operator()(DIR* opened) const { ::closedir(opened); }
};

struct Device {
    int number;
    std::string path;
    Descriptor file;
    std::unique_ptr<libevdev, Free> evdev;

    std::string text() const { return "device " + std::to_string(number) + ": " + name_and_path(); }
    std::string name_and_path() const { return printable(libevdev_get_name(evdev.get())) + " (" + path + ")"; }
};

/// Whether both are there, and the same file, perhaps by a link.
bool is_same_file(const std::string& one, const std::string& other) {
    using Status = struct stat;
    Status first{}, second{};
    return ::stat(one.c_str(), &first) == 0 && ::stat(other.c_str(), &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}

class EvdevDevices final : public Devices {
public:
    explicit EvdevDevices(std::vector<std::string> wanted) : wanted_(std::move(wanted)) {}

    /// An error, or nothing.
    std::string begin() {
        // A device comes without rights for the user at first.
        if (poll_.get() < 0 || changes_.get() < 0 ||
            ::inotify_add_watch(changes_.get(), folder, IN_CREATE | IN_ATTRIB) < 0 || !watch(changes_.get())) {
            std::string line("nothing can be read in ");
            return line.append(folder)
                .append(" (")
                .append(std::strerror(errno))
                .append("): a container has to be given it");
        }
        return "";
    }

    int fd() const override { return poll_.get(); }

    News read() override {
        News news;
        const bool changed = take_changes();
        if (std::exchange(again_, false) || changed)
            look_for_devices(news);
        for (auto device = devices_.begin(); device != devices_.end();)
            device = take_moves(**device, news) ? std::next(device) : remove(device, news);
        return news;
    }

    News release() override {
        News news;
        for (const auto& device : devices_)
            add(*device, release_of(device->evdev.get()), news);
        return news;
    }

    std::string missing() const override {
        if (!devices_.empty())
            return "";
        if (forbidden_.empty() && (wanted_.empty() || others_.empty()))
            return "there is no gamepad yet: plug one in";
        if (forbidden_.empty())
            return "no device with axes or buttons is called so; there are:" + others_;
        return "no gamepad is there that may be read (" + *forbidden_.begin() +
               " may not): plug one in; log in at this machine's own screen, or join the group input";
    }

private:
    bool watch(int file) {
        epoll_event event{};
        event.events = EPOLLIN;
        return ::epoll_ctl(poll_.get(), EPOLL_CTL_ADD, file, &event) == 0;
    }

    /// Whether devices may have come.
    bool take_changes() {
        alignas(inotify_event) std::array<char, 4096> bytes;
        bool any = false;
        while (::read(changes_.get(), bytes.data(), bytes.size()) > 0)
            any = true;
        return any;
    }

    void look_for_devices(News& news) {
        const std::unique_ptr<DIR, Free> opened(::opendir(folder));
        std::vector<std::string> paths;
        while (const dirent* const entry = opened ? ::readdir(opened.get()) : nullptr)
            if (std::string_view(entry->d_name).starts_with("event"))
                paths.push_back(std::string(folder) + "/" + entry->d_name);
        // Those that are there at the start are numbered in the order in which they have come.
        std::sort(paths.begin(), paths.end(), [](const std::string& one, const std::string& other) {
            return std::pair(one.size(), one) < std::pair(other.size(), other);
        });
        forbidden_.clear();
        others_.clear();
        for (const std::string& path : paths)
            if (std::none_of(devices_.begin(), devices_.end(), [&](const auto& each) { return each->path == path; }))
                look_at(path, news);
    }

    void look_at(const std::string& path, News& news) {
        auto device = std::make_unique<Device>();
        device->path = path;
        device->file = Descriptor(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
        if (device->file.get() < 0) {
            if (errno == EACCES || errno == EPERM)
                forbidden_.insert(path);
            again_ = true; // nothing may tell when it can be opened
            return;
        }
        libevdev* made = nullptr;
        if (libevdev_new_from_fd(device->file.get(), &made) < 0)
            return;
        device->evdev.reset(made);
        device->number = number_for(*device);
        if (device->number <= 0 && is_playable(made))
            others_ += "\n    " + device->name_and_path();
        if (device->number <= 0 || !watch(device->file.get()))
            return;
        news.lines.push_back(device->text());
        add(*device, state_of(made), news);
        devices_.push_back(std::move(device));
    }

    /// 0: it isn't one of those that are wanted, or there are too many.
    int number_for(const Device& device) const {
        const auto taken = [&](int number) {
            return std::any_of(devices_.begin(), devices_.end(),
                               [&](const auto& each) { return each->number == number; });
        };
        const auto is_meant = [&](const std::string& word) {
            return word.starts_with('/') ? is_same_file(word, device.path)
                                         : ::strcasestr(libevdev_get_name(device.evdev.get()), word.c_str()) != nullptr;
        };
        for (size_t i = 0; i < wanted_.size(); ++i)
            if (!taken(int(i) + 1) && is_meant(wanted_[i]) && is_playable(device.evdev.get()))
                return int(i) + 1;
        if (!wanted_.empty() || !is_played(device.evdev.get()))
            return 0;
        int number = 1;
        while (taken(number))
            ++number;
        return number <= ControlEvent::last_device ? number : 0;
    }

    static void add(const Device& device, const std::vector<Move>& moves, News& news) {
        for (const Move& move : moves)
            news.moves.push_back({device.number, move});
    }

    static bool is_hung_up(int file) {
        pollfd polled{file, 0, 0};
        return ::poll(&polled, 1, 0) > 0;
    }

    /// false: the device is gone.
    static bool take_moves(Device& device, News& news) {
        unsigned flag = LIBEVDEV_READ_FLAG_NORMAL;
        for (;;) {
            input_event event{};
            const int found = libevdev_next_event(device.evdev.get(), flag, &event);
            if (found == -EAGAIN && flag == LIBEVDEV_READ_FLAG_NORMAL)
                return !is_hung_up(device.file.get());
            if (found < 0 && found != -EAGAIN)
                return found == -EINTR;
            if (const auto move =
                    found == -EAGAIN ? std::nullopt : move_of(device.evdev.get(), event.type, event.code, event.value))
                news.moves.push_back({device.number, *move});
            // Where events were lost the device says how it is now.
            flag = found == LIBEVDEV_READ_STATUS_SYNC ? LIBEVDEV_READ_FLAG_SYNC : LIBEVDEV_READ_FLAG_NORMAL;
        }
    }

    using List = std::vector<std::unique_ptr<Device>>;

    List::iterator remove(List::iterator device, News& news) {
        news.lines.push_back((*device)->text() + " is gone");
        add(**device, release_of((*device)->evdev.get()), news);
        return devices_.erase(device); // and so from what is polled
    }

    const std::vector<std::string> wanted_;
    const Descriptor poll_{::epoll_create1(EPOLL_CLOEXEC)};
    const Descriptor changes_{::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)};
    List devices_;
    std::set<std::string> forbidden_; ///< paths
    std::string others_;              ///< devices that are not wanted, a line each
    bool again_ = true;               ///< read() looks for devices though nothing has changed
};

} // namespace

Result<std::unique_ptr<Devices>> Devices::open(std::vector<std::string> wanted) {
    auto devices = std::make_unique<EvdevDevices>(std::move(wanted));
    if (std::string error = devices->begin(); !error.empty())
        return Error{std::move(error)};
    return std::unique_ptr<Devices>(std::move(devices));
}

} // namespace scs::gamepad
