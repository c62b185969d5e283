// SPDX-License-Identifier: GPL-3.0-or-later
#include "osc/buffer-jobs.hpp"

#include "engine/base/available-memory.hpp"
#include "engine/engine.hpp"
#include "engine/plugins/buf-gen.hpp"
#include "engine/world/streams.hpp"
#include "osc/argument-bytes.hpp"
#include "osc/server.hpp"
#include "osc/status-text.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <span>

namespace scs::osc {

Result<Samples> allocate_buffer(Services& services, int64_t frames, int64_t channels) {
    if (frames < 1 || channels < 1)
        return Error{"a buffer needs at least one frame and one channel"};
    if (frames > std::numeric_limits<int32_t>::max() / channels)
        return Error{"a buffer can't have more than 2147483647 samples"};
    const int64_t samples = frames * channels;
    if (!leaves_memory(samples * int64_t(sizeof(float))))
        return Error{"not enough memory"};
    Samples data(services.allocate(samples));
    if (!data)
        return Error{"not enough memory"};
    return data;
}

ReleasedSamples::~ReleasedSamples() {
    for (float* data : samples)
        free_samples(data);
}

BufferJob::BufferJob(CommandInit&& init) : OscJob(std::move(init)), rest_(args()), index_(rest_.get_int()) {
    if (index_ < 0 || index_ >= services().settings.engine.buffers)
        reject({Code::buffer_out_of_range, index_});
    set_done_value(index_);
}

BufferJob::~BufferJob() {
    if (closed_ && !installed_)
        engine().buffers().streams().keep(std::move(closed_));
}

Buffer BufferJob::latest() const noexcept {
    return engine().buffers().latest(index_);
}

bool BufferJob::lacks_samples() {
    if (latest().data)
        return false;
    fail(status_text({Code::no_buffer, index_}));
    return true;
}

double BufferJob::usable_rate(double wanted) const noexcept {
    return wanted > 0 && std::isfinite(wanted) ? wanted : engine_rate();
}

double BufferJob::engine_rate() const noexcept {
    engine().status().rate_in_use.store(true, std::memory_order_relaxed);
    return engine().status().rate.load(std::memory_order_relaxed);
}

void BufferJob::close_stream() {
    Buffer buffer = latest();
    if (!buffer.stream)
        return;
    closed_ = engine().buffers().streams().close(buffer.stream);
    buffer.stream = nullptr;
    engine().buffers().set_latest(index_, buffer);
    result_ = buffer;
}

void BufferJob::publish(const Buffer& buffer) {
    if (latest().stream != buffer.stream)
        close_stream();
    const Buffer before = latest();
    engine().buffers().set_latest(index_, buffer);
    if (before.data != buffer.data)
        release(before.data);
    result_ = buffer;
}

void BufferJob::published() {
    result_ = latest();
}

void BufferJob::release(float* data) {
    if (!data)
        return;
    released_ = std::make_unique<ReleasedSamples>();
    released_->samples.push_back(data);
}

void BufferJob::install(Engine& engine) noexcept {
    installed_ = true;
    if (result_)
        engine.buffers().install(index_, *result_);
    if (released_)
        engine.outbox().hand_back(released_.release(), Handback::Kind::release);
}

AllocBuffer::AllocBuffer(CommandInit&& init)
    : BufferJob(std::move(init)), frames_(rest_.get_int()), channels_(rest_.get_int(1)) {
    take_completion(rest_);
    while (rest_.tag() && !(rate_ > 0))
        rate_ = rest_.get_double();
}

void AllocBuffer::do_work() {
    Result<Samples> data = allocate_buffer(services(), frames_, channels_);
    if (!data)
        return fail(data.error());
    publish({data.value().release(), frames_, channels_, usable_rate(rate_), nullptr});
}

FreeBuffer::FreeBuffer(CommandInit&& init) : BufferJob(std::move(init)) {
    take_completion(rest_);
}

void FreeBuffer::do_work() {
    publish({nullptr, 0, 0, latest().sample_rate, nullptr}); // /b_query still gives the rate, as in scsynth
}

ZeroBuffer::ZeroBuffer(CommandInit&& init) : BufferJob(std::move(init)) {
    take_completion(rest_);
}

void ZeroBuffer::do_work() {
    if (lacks_samples())
        return;
    const Buffer buffer = latest();
    for (int64_t i = 0; i < buffer.samples(); ++i)
        std::atomic_ref(buffer.data[i]).store(0, std::memory_order_relaxed);
    publish(buffer);
}

CloseBuffer::CloseBuffer(CommandInit&& init) : BufferJob(std::move(init)) {
    take_completion(rest_);
}

void CloseBuffer::do_work() {
    Buffer buffer = latest();
    buffer.stream = nullptr;
    publish(buffer);
}

SetBufferRate::SetBufferRate(CommandInit&& init) : BufferJob(std::move(init)), rate_(rest_.get_double()) {}

void SetBufferRate::do_work() {
    Buffer buffer = latest();
    buffer.sample_rate = usable_rate(rate_);
    publish(buffer);
}

GenerateBuffer::GenerateBuffer(CommandInit&& init) : BufferJob(std::move(init)), generator_(rest_.get_string()) {
    const int count = services().settings.engine.buffers;
    for (const Arg& arg : message().args) {
        if (arg.type == Arg::Type::int32)
            buffers_.add(arg.i, count);
        else if (arg.type == Arg::Type::float32)
            buffers_.add(double(arg.f), count);
        else if (arg.type == Arg::Type::float64)
            buffers_.add(arg.d, count);
    }
}

void GenerateBuffer::do_work() {
    const ArgumentBytes arguments(message().args.subspan(2));
    if (arguments.get().empty())
        return set_failure("wrong argument type");
    float* replaced = nullptr;
    const BufGenOutcome outcome = run_buf_gen(engine().world(), index(), generator_, arguments.get(), replaced);
    if (outcome == BufGenOutcome::unknown)
        return set_failure("buf gen routine not found");
    if (lacks_samples()) // then nothing was run
        return;
    if (outcome == BufGenOutcome::crashed)
        return set_failure("buf gen routine '" + std::string(generator_) + "' crashed");
    if (outcome == BufGenOutcome::endless)
        return set_failure("buf gen routine '" + std::string(generator_) + "' took too long");
    if (outcome == BufGenOutcome::does_not_fit)
        return set_failure("the buffer is too small");
    if (outcome == BufGenOutcome::odd_length)
        return set_failure("a wavetable has an even number of samples");
    if (replaced)
        close_stream(); // it knows the replaced data
    release(replaced);
    published();
}

} // namespace scs::osc
