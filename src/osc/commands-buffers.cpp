// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/nonblocking.hpp"
#include "engine/engine.hpp"
#include "osc/buffer-jobs.hpp"
#include "osc/command-table.hpp"
#include "osc/value-replies.hpp"

#include <algorithm>
#include <atomic>

namespace scs::osc {

namespace {

/// More than this many samples are filled on the worker, not on the data loop (some 20 µs).
constexpr int64_t max_fill_at_once = 65536;
constexpr int64_t sample_cost = 5; // ns, an estimate for the deadline

void write(float& sample, float value) noexcept {
    std::atomic_ref(sample).store(value, std::memory_order_relaxed);
}

std::span<float> samples_of(const Buffer& buffer) noexcept {
    return {buffer.data, buffer.data ? size_t(buffer.samples()) : 0};
}

/// Reads a buffer's number and gives its samples, none if it isn't allocated. Fails if there is no such number.
Status get_samples(ArgReader& args, Engine& engine, int32_t& index, std::span<float>& samples) noexcept {
    index = args.get_int();
    if (!engine.buffers().in_range(index))
        return {Code::buffer_out_of_range, index};
    samples = samples_of(engine.buffers().get(index));
    return {};
}

/// The same, but fails if the buffer isn't allocated, for commands that don't count each sample.
Status get_some_samples(ArgReader& args, Engine& engine, int32_t& index, std::span<float>& samples) noexcept {
    const Status status = get_samples(args, engine, index, samples);
    return status.ok() && samples.empty() ? Status{Code::no_buffer, index} : status;
}

/// buffer, (index, value)*
Status b_set(OscCommand& command, Engine& engine) noexcept SCS_NONBLOCKING {
    ArgReader first = command.args();
    int32_t buffer;
    std::span<float> samples;
    if (const Status status = get_samples(first, engine, buffer, samples); status.failed())
        return status;
    Place& place = command.place();
    if (place.args.remain() == command.args().remain())
        place.args = first;
    ArgReader& args = place.args;
    while (args.remain() >= 8) {
        if (engine.out_of_time(2 * sample_cost))
            return command.unfinished();
        const auto index = uint32_t(args.get_int());
        const float value = args.get_float();
        if (index >= samples.size())
            return {Code::index_out_of_range};
        write(samples[index], value);
    }
    return {};
}

/// buffer, (start, count, value*)*; values outside the buffer are ignored without a failure.
Status b_setn(OscCommand& command, Engine& engine) noexcept SCS_NONBLOCKING {
    ArgReader first = command.args();
    int32_t buffer;
    std::span<float> samples;
    if (const Status status = get_some_samples(first, engine, buffer, samples); status.failed())
        return status;
    Place& place = command.place();
    if (place.args.remain() == command.args().remain())
        place.args = first;
    while (place.args.remain()) {
        if (place.number >= place.end) {
            if (engine.out_of_time(4 * sample_cost))
                return command.unfinished();
            place.number = place.args.get_int();
            place.end = place.number + place.args.get_int();
        }
        for (; place.number < place.end && place.args.remain(); ++place.number) {
            if (engine.out_of_time(sample_cost))
                return command.unfinished();
            const float value = place.args.get_float();
            if (place.number >= 0 && place.number < int64_t(samples.size()))
                write(samples[size_t(place.number)], value);
        }
    }
    return {};
}

/// Calls visit(samples, value) for each range of (start, count, value)*, clipped to `samples`.
template <class Visit>
void for_each_fill(ArgReader ranges, std::span<float> samples, Visit&& visit) noexcept {
    const auto size = int64_t(samples.size());
    while (ranges.remain() >= 12) {
        const int64_t start = ranges.get_int(), count = ranges.get_int();
        const float value = ranges.get_float();
        const int64_t first = std::clamp<int64_t>(start, 0, size);
        const int64_t end = std::clamp<int64_t>(start + count, first, size);
        visit(samples.subspan(size_t(first), size_t(end - first)), value);
    }
}

void fill(ArgReader ranges, std::span<float> samples) noexcept {
    for_each_fill(ranges, samples, [](std::span<float> range, float value) {
        for (float& sample : range)
            write(sample, value);
    });
}

/// /b_fill: buffer, (start, count, value)*. Done at once if that is quick, otherwise by the worker.
class FillBuffer final : public OscCommand {
public:
    using OscCommand::OscCommand;

    Outcome run(Engine& engine) noexcept override {
        if (rejection().failed())
            return ended(rejection(), engine);
        std::span<float> samples;
        ranges_ = args();
        if (const Status status = get_some_samples(ranges_, engine, index_, samples); status.failed())
            return ended(status, engine);
        auto work = int64_t(ranges_.remain()); // ranges take time to read
        if (work <= max_fill_at_once)
            for_each_fill(ranges_, samples, [&](std::span<float> range, float) { work += int64_t(range.size()); });
        if (work > max_fill_at_once)
            return Outcome::job;
        fill(ranges_, samples);
        return Outcome::done;
    }

    void work() noexcept override { fill(ranges_, samples_of(services().engine->buffers().latest(index_))); }

    /// Nothing is answered, but the OSC thread learns that the job is back.
    Outcome apply(Engine&) noexcept override { return Outcome::reply; }

private:
    ArgReader ranges_;
    int32_t index_ = 0;
};

size_t b_query_room(ArgReader args) noexcept {
    return values_room("/b_info", args.remain() / 4 * 4);
}

/// buffer*
Status b_query(OscCommand& command, Engine& engine) noexcept SCS_NONBLOCKING {
    const ArgReader args = command.args();
    if (values_message_bytes("/b_info", args.remain() / 4 * 4) > max_values_bytes)
        return {Code::buffer_overflow};
    for (ArgReader check = args; check.remain() >= 4;)
        if (const int32_t index = check.get_int(); !engine.buffers().in_range(index))
            return {Code::buffer_out_of_range, index};

    command.reply().begin("/b_info");
    for (ArgReader indices = args; indices.remain() >= 4;) {
        const int32_t index = indices.get_int();
        const Buffer buffer = engine.buffers().get(index);
        command.reply().add(index);
        command.reply().add(buffer.frames);
        command.reply().add(buffer.channels);
        command.reply().add(float(buffer.sample_rate));
    }
    return {};
}

size_t b_get_room(ArgReader args) noexcept {
    args.skip();
    return values_room("/b_set", 1 + indexed_arguments(args));
}

Status b_get(OscCommand& command, Engine& engine) noexcept SCS_NONBLOCKING {
    ArgReader args = command.args();
    int32_t buffer;
    std::span<float> samples;
    if (const Status status = get_samples(args, engine, buffer, samples); status.failed())
        return status;
    return reply_indexed(command, "/b_set", buffer, args, samples);
}

size_t b_getn_room(ArgReader args) noexcept {
    args.skip();
    return values_room("/b_setn", 1 + ranged_arguments(args));
}

Status b_getn(OscCommand& command, Engine& engine) noexcept SCS_NONBLOCKING {
    ArgReader args = command.args();
    int32_t buffer;
    std::span<float> samples;
    if (const Status status = get_samples(args, engine, buffer, samples); status.failed())
        return status;
    return reply_ranged(command, "/b_setn", buffer, args, samples);
}

constexpr CommandSpec commands[] = {
    {.number = 28, .name = "/b_alloc", .types = "ii", .make = make_command<AllocBuffer>},
    {.number = 29, .name = "/b_allocRead", .types = "is", .make = make_command<AllocReadBuffer<false>>},
    {.number = 30, .name = "/b_read", .types = "is", .make = make_command<ReadBuffer<false>>},
    {.number = 31, .name = "/b_write", .types = "is", .make = make_command<WriteBuffer>},
    {.number = 32, .name = "/b_free", .types = "i", .make = make_command<FreeBuffer>},
    {.number = 33, .name = "/b_close", .types = "i", .make = make_command<CloseBuffer>},
    {.number = 34, .name = "/b_zero", .types = "i", .make = make_command<ZeroBuffer>},
    {.number = 35, .name = "/b_set", .types = "i", .handler = b_set},
    {.number = 36, .name = "/b_setn", .types = "i", .handler = b_setn},
    {.number = 37, .name = "/b_fill", .types = "i", .make = make_command<FillBuffer>},
    {.number = 38, .name = "/b_gen", .types = "is", .make = make_command<GenerateBuffer>},
    {.number = 42, .name = "/b_get", .types = "i", .handler = b_get, .reply_room = b_get_room},
    {.number = 43, .name = "/b_getn", .types = "i", .handler = b_getn, .reply_room = b_getn_room},
    {.number = 47, .name = "/b_query", .handler = b_query, .reply_room = b_query_room},
    {.number = 54, .name = "/b_allocReadChannel", .types = "is", .make = make_command<AllocReadBuffer<true>>},
    {.number = 55, .name = "/b_readChannel", .types = "is", .make = make_command<ReadBuffer<true>>},
    {.number = 66, .name = "/b_setSampleRate", .types = "i", .make = make_command<SetBufferRate>},
};

} // namespace

std::span<const CommandSpec> buffer_commands() {
    return commands;
}

} // namespace scs::osc
