// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/print-relay.hpp"

#include "cli/client-name.hpp"

#include <array>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <string_view>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace scs::cli {

namespace {

std::string socket_path() {
    const std::string folder = runtime_folder();
    return folder.empty() ? folder : folder + "/pw-scsynth-" + std::to_string(::getpid());
}

/// A socket that listens there, for this user only; -1 if there can be none.
int listen_at(const std::string& path) {
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    if (path.empty() || path.size() >= sizeof name.sun_path)
        return -1;
    path.copy(name.sun_path, path.size());
    const int fd = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    ::unlink(path.c_str()); // left behind by an earlier process of the same number
    if (::bind(fd, reinterpret_cast<const sockaddr*>(&name), sizeof name) == 0 &&
        ::chmod(path.c_str(), S_IRUSR | S_IWUSR) == 0 && ::listen(fd, 1) == 0)
        return fd;
    ::close(fd);
    ::unlink(path.c_str());
    return -1;
}

/// False: nobody reads it any more.
bool write_out(std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
        if (written < 0)
            return false;
        text.remove_prefix(size_t(written));
    }
    return true;
}

} // namespace

struct PrintRelay::Shared {
    Shared(int fd, std::string p) : listening(fd), path(std::move(p)) {}
    ~Shared() { ::close(listening); }

    void run() {
        for (int connection; (connection = ::accept4(listening, nullptr, nullptr, SOCK_CLOEXEC)) >= 0;) {
            ::unlink(path.c_str()); // already now: a process that is killed can't
            std::array<char, 65536> text;
            for (ssize_t n; (n = ::recv(connection, text.data(), text.size(), 0)) > 0;)
                if (!write_out({text.data(), size_t(n)}))
                    break;
                else
                    note(has_written);
            ::close(connection);
        }
        note(over);
    }

    void note(bool& what) {
        const std::lock_guard lock(mutex);
        what = true;
        changed.notify_all();
    }

    const int listening;
    const std::string path;
    std::mutex mutex;
    std::condition_variable changed;
    bool has_written = false, over = false;
};

PrintRelay::PrintRelay() {
    const std::string path = socket_path();
    const int fd = listen_at(path);
    if (fd < 0)
        return;
    shared_ = std::make_shared<Shared>(fd, path);
    sigset_t all, before; // signals are for the main thread
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    std::thread([shared = shared_] { shared->run(); }).detach();
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

std::string PrintRelay::path() const {
    return shared_ ? shared_->path : std::string();
}

bool PrintRelay::has_written(std::chrono::milliseconds time) const {
    if (!shared_)
        return false;
    std::unique_lock lock(shared_->mutex);
    return shared_->changed.wait_for(lock, time, [this] { return shared_->has_written; });
}

PrintRelay::~PrintRelay() {
    if (!shared_)
        return;
    ::unlink(shared_->path.c_str());
    ::shutdown(shared_->listening, SHUT_RDWR); // ends accept4()
    std::unique_lock lock(shared_->mutex);
    shared_->changed.wait_for(lock, std::chrono::milliseconds(500), [this] { return shared_->over; });
}

} // namespace scs::cli
