// SPDX-License-Identifier: GPL-3.0-or-later
#include "drive.hpp"

#include <spa/node/utils.h>

#include <cerrno>
#include <cmath>
#include <ctime>
#include <sys/timerfd.h>
#include <unistd.h>

namespace scs::test {

namespace {

constexpr uint64_t nsec_per_sec = 1'000'000'000;

int on_loop(spa_loop* loop, spa_source* source, int (*action)(spa_loop*, spa_source*)) {
    struct Call {
        spa_source* source;
        int (*action)(spa_loop*, spa_source*);
    } call{source, action};
    return spa_loop_invoke(
        loop,
        [](spa_loop* loop, bool, uint32_t, const void*, size_t, void* data) {
            const auto& call = *static_cast<Call*>(data);
            return call.action(loop, call.source);
        },
        0, nullptr, 0, true, &call);
}

int add(spa_loop* loop, spa_source* source) {
    return spa_loop_add_source(loop, source);
}

int remove(spa_loop* loop, spa_source* source) {
    return spa_loop_remove_source(loop, source);
}

} // namespace

Drive::~Drive() {
    if (!is_open())
        return;
    on_loop(loop_, &source_, remove);
    ::close(source_.fd);
}

int Drive::open(spa_loop* data_loop, double ppm, uint32_t quantum) {
    if (quantum == 0 || !(std::abs(ppm) < 1e5))
        return -EINVAL;
    const int fd = ::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (fd < 0)
        return -errno;
    loop_ = data_loop;
    quantum_ = quantum;
    cycle_nsec_ = quantum * double(nsec_per_sec) / (rate * (1 + ppm * 1e-6));
    source_.fd = fd;
    source_.func = on_time;
    source_.data = this;
    source_.mask = SPA_IO_IN;
    return on_loop(loop_, &source_, add);
}

void Drive::start() noexcept {
    if (!is_open() || running_)
        return;
    timespec now;
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    begin_ = uint64_t(now.tv_sec) * nsec_per_sec + uint64_t(now.tv_nsec);
    cycles_ = 0;
    running_ = true;
    set_timer(begin_);
}

void Drive::stop() noexcept {
    if (!running_)
        return;
    running_ = false;
    set_timer(0);
}

/// Counted from the start, so that nothing adds up.
uint64_t Drive::due(uint64_t cycle) const noexcept {
    return begin_ + uint64_t(std::llround(double(cycle) * cycle_nsec_));
}

/// At 0 the timer stands.
void Drive::set_timer(uint64_t nsec) noexcept {
    itimerspec time{};
    time.it_value.tv_sec = time_t(nsec / nsec_per_sec);
    time.it_value.tv_nsec = long(nsec % nsec_per_sec);
    ::timerfd_settime(source_.fd, TFD_TIMER_ABSTIME, &time, nullptr);
}

void Drive::on_time(spa_source* source) {
    uint64_t expired;
    if (::read(source->fd, &expired, sizeof expired) == ssize_t(sizeof expired))
        static_cast<Drive*>(source->data)->cycle();
}

void Drive::cycle() noexcept {
    const uint64_t now = due(cycles_), next = due(cycles_ + 1);
    ++cycles_;
    if (clock_) {
        clock_->nsec = now;
        clock_->rate = {1, rate};
        clock_->position = position_;
        clock_->duration = quantum_;
        clock_->delay = 0;
        clock_->rate_diff = quantum_ * double(nsec_per_sec) / rate / cycle_nsec_;
        clock_->next_nsec = next;
    }
    position_ += quantum_;
    set_timer(next);
    spa_node_call_ready(&callbacks_, SPA_STATUS_NEED_DATA);
}

} // namespace scs::test
