// SPDX-License-Identifier: GPL-3.0-or-later
#include "loops.hpp"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdarg>
#include <cstdio>
#include <stdexcept>

namespace scs::test {

// ---- Loop

Loop::Loop() : poll_fd_(epoll_create1(EPOLL_CLOEXEC)) {
    static const spa_loop_methods methods = [] {
        spa_loop_methods m{};
        m.version = SPA_VERSION_LOOP_METHODS;
        m.add_source = add_source;
        m.update_source = update_source;
        m.remove_source = remove_source;
        m.invoke = invoke;
        return m;
    }();
    if (poll_fd_ < 0)
        throw std::runtime_error("epoll_create1");
    spa_.iface = {SPA_TYPE_INTERFACE_Loop, SPA_VERSION_LOOP, {&methods, this}};
    wakeup_.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    wakeup_.mask = SPA_IO_IN;
    wakeup_.func = [](spa_source* source) {
        eventfd_t count;
        eventfd_read(source->fd, &count);
    };
    add_source(this, &wakeup_);
}

Loop::~Loop() {
    close(wakeup_.fd);
    close(poll_fd_);
}

int Loop::add_source(void* object, spa_source* source) {
    Loop& self = *static_cast<Loop*>(object);
    source->loop = &self.spa_;
    epoll_event event{};
    event.events = source->mask;
    event.data.ptr = source;
    return epoll_ctl(self.poll_fd_, EPOLL_CTL_ADD, source->fd, &event) < 0 ? -errno : 0;
}

int Loop::update_source(void* object, spa_source* source) {
    epoll_event event{};
    event.events = source->mask;
    event.data.ptr = source;
    return epoll_ctl(static_cast<Loop*>(object)->poll_fd_, EPOLL_CTL_MOD, source->fd, &event) < 0 ? -errno : 0;
}

int Loop::remove_source(void* object, spa_source* source) {
    source->loop = nullptr;
    return epoll_ctl(static_cast<Loop*>(object)->poll_fd_, EPOLL_CTL_DEL, source->fd, nullptr) < 0 ? -errno : 0;
}

int Loop::invoke(void* object, spa_invoke_func_t function, uint32_t seq, const void* data, size_t size, bool block,
                 void* user) {
    Loop& self = *static_cast<Loop*>(object);
    if (!block)
        throw std::logic_error("only blocking calls are expected");
    int res = 0;
    self.run([&] { res = function(&self.spa_, true, seq, data, size, user); });
    return res;
}

void Loop::run(const std::function<void()>& f) {
    std::unique_lock lock(mutex_);
    if (owner_ == std::thread::id{} || owner_ == std::this_thread::get_id()) {
        lock.unlock();
        f();
        return;
    }
    auto task = std::make_shared<Task>();
    task->function = f;
    queue_.push_back(task);
    lock.unlock();
    wake();
    lock.lock();
    finished_.wait(lock, [&] { return task->done; });
}

void Loop::run_queue() {
    std::unique_lock lock(mutex_);
    while (!queue_.empty()) {
        const auto task = queue_.front();
        queue_.pop_front();
        lock.unlock();
        task->function();
        lock.lock();
        task->done = true;
        finished_.notify_all();
    }
}

bool Loop::iterate(int timeout_ms) {
    // One event at a time, because its handler may remove any other source.
    epoll_event event;
    const int count = epoll_wait(poll_fd_, &event, 1, timeout_ms);
    if (count == 1) {
        auto* source = static_cast<spa_source*>(event.data.ptr);
        source->rmask = event.events;
        source->func(source);
    }
    run_queue();
    return count == 1;
}

void Loop::enter() {
    const std::lock_guard lock(mutex_);
    owner_ = std::this_thread::get_id();
}

void Loop::leave() {
    {
        const std::lock_guard lock(mutex_);
        owner_ = {};
    }
    run_queue();
}

void Loop::wake() {
    eventfd_write(wakeup_.fd, 1);
}

// ---- MainLoop

struct MainLoop::Source {
    spa_source source{};
    MainLoop* owner = nullptr;
    spa_source_event_func_t event = nullptr;
    spa_source_timer_func_t timer = nullptr;
    bool armed = false;
    void* data = nullptr;
};

MainLoop::MainLoop() {
    static const spa_loop_utils_methods methods = [] {
        spa_loop_utils_methods m{};
        m.version = SPA_VERSION_LOOP_UTILS_METHODS;
        m.add_event = add_event;
        m.signal_event = signal_event;
        m.add_timer = add_timer;
        m.update_timer = update_timer;
        m.destroy_source = destroy_source;
        return m;
    }();
    utils_.iface = {SPA_TYPE_INTERFACE_LoopUtils, SPA_VERSION_LOOP_UTILS, {&methods, this}};
    loop_.enter();
}

MainLoop::~MainLoop() {
    while (!sources_.empty())
        destroy_source(this, &sources_.front().source);
}

spa_source* MainLoop::add_event(void* object, spa_source_event_func_t function, void* data) {
    MainLoop& self = *static_cast<MainLoop*>(object);
    Source& source = self.sources_.emplace_back();
    source.owner = &self;
    source.event = function;
    source.data = data;
    source.source.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    source.source.mask = SPA_IO_IN;
    source.source.data = &source;
    source.source.func = [](spa_source* s) {
        const Source& each = *static_cast<Source*>(s->data);
        eventfd_t count = 0;
        eventfd_read(s->fd, &count);
        each.event(each.data, count);
    };
    spa_loop_add_source(self.loop_.spa(), &source.source);
    return &source.source;
}

int MainLoop::signal_event(void*, spa_source* source) {
    return eventfd_write(source->fd, 1) < 0 ? -errno : 0;
}

spa_source* MainLoop::add_timer(void* object, spa_source_timer_func_t function, void* data) {
    MainLoop& self = *static_cast<MainLoop*>(object);
    Source& source = self.sources_.emplace_back();
    source.owner = &self;
    source.timer = function;
    source.data = data;
    source.source.fd = -1;
    source.source.data = &source;
    return &source.source;
}

int MainLoop::update_timer(void*, spa_source* source, timespec* value, timespec*, bool) {
    static_cast<Source*>(source->data)->armed = value->tv_sec != 0 || value->tv_nsec != 0;
    return 0;
}

void MainLoop::destroy_source(void* object, spa_source* source) {
    MainLoop& self = *static_cast<MainLoop*>(object);
    if (source->fd >= 0) {
        spa_loop_remove_source(self.loop_.spa(), source);
        close(source->fd);
    }
    self.sources_.remove_if([&](const Source& each) { return &each.source == source; });
}

bool MainLoop::run_until(const std::function<bool()>& done, int timeout_ms) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_ms);
    while (!done()) {
        if (std::chrono::steady_clock::now() > end)
            return false;
        loop_.iterate(10);
    }
    return true;
}

void MainLoop::expire_timers() {
    for (const Source& source : sources_)
        if (source.timer && source.armed)
            source.timer(source.data, 1);
}

// ---- Log

Log::Log() {
    static const spa_log_methods methods = [] {
        spa_log_methods m{};
        m.version = SPA_VERSION_LOG_METHODS;
        m.logt = logt;
        return m;
    }();
    spa_.iface = {SPA_TYPE_INTERFACE_Log, SPA_VERSION_LOG, {&methods, this}};
    spa_.level = SPA_LOG_LEVEL_DEBUG;
}

void Log::logt(void* object, spa_log_level, const spa_log_topic*, const char*, int, const char*, const char* format,
               ...) {
    Log& self = *static_cast<Log*>(object);
    char text[1024] = "";
    va_list arguments;
    va_start(arguments, format);
    if (format) // never null, but gcc's sanitizers think it may be
        std::vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    const std::lock_guard lock(self.mutex_);
    self.lines_.push_back(text);
}

bool Log::has(const std::string& text) {
    const std::lock_guard lock(mutex_);
    for (const std::string& line : lines_)
        if (line.find(text) != std::string::npos)
            return true;
    return false;
}

void Log::forget() {
    const std::lock_guard lock(mutex_);
    lines_.clear();
}

std::string Log::all() {
    const std::lock_guard lock(mutex_);
    std::string all;
    for (const std::string& line : lines_)
        all += line + "\n";
    return all;
}

} // namespace scs::test
