// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/plugins/stream-units.hpp"

#include "engine/base/text-line.hpp"
#include "engine/guard/fault-guard.hpp"
#include "engine/messages/outbox.hpp"
#include "engine/plugins/interface-table.hpp"
#include "engine/plugins/plugin-world-abi.hpp"
#include "engine/plugins/registry.hpp"
#include "engine/world/buffers.hpp"
#include "engine/world/streams.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

// The buffer is what is streamed through: while one half of it plays, the other is read from the file. A unit asks for
// a half when it has left it, and stays where it is, silent, as long as a half isn't there that it needs.

namespace scs {
namespace {

using Kind = FileStream::Kind;

/// What the units have in common. A unit's memory is zeroed before its constructor runs.
struct StreamUnit : ::Unit {
    ::SndBuf* buffer; ///< null: no block has been computed yet
    float number;     ///< that input 0 had for this buffer
    bool own;         ///< it is one of the synth's own, which have no streams
    uint64_t serial;  ///< of the stream that the rest is about; 0: none

    float in(int index) const noexcept { return mInBuf[index][0]; }
};

/// A unit that plays a file.
struct Player : StreamUnit {
    /// A half of the buffer that it asked for and hasn't got yet.
    struct Half {
        int32_t start, end; ///< frames; equal if it has got it
        Kind kind;
        uint64_t request; ///< 0: it couldn't be made yet
    };
    Half halves[2];
    int latest;            ///< of the two, the one that was asked for last
    const ::SndBuf* asked; ///< the buffer that they belong to

    bool awaits_any() const noexcept { return halves[0].start != halves[0].end || halves[1].start != halves[1].end; }
};

void clear(const ::Unit& unit, int frames) noexcept {
    for (uint32_t i = 0; i < unit.mNumOutputs; ++i)
        std::memset(unit.mOutBuf[i], 0, size_t(frames) * sizeof(float));
}

[[gnu::noinline]] void change_buffer(StreamUnit& unit) noexcept {
    const float number = unit.number = unit.in(0);
    const auto index = number >= 0 && number < 16777216.f ? uint32_t(number) : 0u;
    const ::World& world = *unit.mWorld;
    const ::Graph& graph = *unit.mParent;
    unit.own = index >= world.mNumSndBufs && int64_t(index) - world.mNumSndBufs < graph.localBufNum;
    if (unit.own)
        unit.buffer = graph.mLocalSndBufs + (index - world.mNumSndBufs);
    else
        unit.buffer = world.mSndBufs + (index < world.mNumSndBufs ? index : 0);
}

/// The buffer that input 0 says, one of the synth's own among them; the first one for a number that there isn't. Where
/// a buffer is never changes while the synth plays, so this is worked out for each new number only.
::SndBuf& find_buffer(StreamUnit& unit) noexcept {
    if (!(unit.in(0) == unit.number) || !unit.buffer) [[unlikely]]
        change_buffer(unit);
    return *unit.buffer;
}

/// The stream through the unit's buffer, or null.
FileStream* stream_of(const StreamUnit& unit) noexcept {
    return unit.own ? nullptr : static_cast<FileStream*>(unit.buffer->sndfile);
}

uint64_t serial_of(const FileStream* stream) noexcept {
    return stream ? stream->serial() : 0;
}

/// Whether files can be streamed through this buffer: as in scsynth it must have halves of whole blocks.
bool has_halves(const ::World& world, const ::SndBuf& buffer) noexcept {
    return buffer.data && buffer.frames > 0 && (buffer.frames & (2 * world.mBufLength - 1)) == 0;
}

/// Counts frames that came too late, and says so in the log, at most every ten seconds.
void count_late(StreamUnit& unit, std::atomic<uint64_t>& count, int frames, const char* what) noexcept {
    const FaultGuard::HostCode whole;
    PluginWorld& world = owner_of(unit.mWorld);
    const uint64_t total = count.fetch_add(uint64_t(frames), std::memory_order_relaxed) + uint64_t(frames);
    const double blocks = 10 * unit.mWorld->mSampleRate / unit.mWorld->mBufLength;
    if (!world.buffers().streams().may_report(unit.mWorld->mBufCounter, uint32_t(blocks)))
        return;
    TextLine line;
    line.add(what, (unsigned long long)total);
    world.outbox().print(line.take());
}

using Four = float __attribute__((vector_size(16)));

/// Moves four frames of two channels.
[[gnu::always_inline]] inline void part_four(const float* from, float* left, float* right) noexcept {
    Four first, second;
    std::memcpy(&first, from, sizeof first);
    std::memcpy(&second, from + 4, sizeof second);
    const Four lefts = __builtin_shufflevector(first, second, 0, 2, 4, 6);
    const Four rights = __builtin_shufflevector(first, second, 1, 3, 5, 7);
    std::memcpy(left, &lefts, sizeof lefts);
    std::memcpy(right, &rights, sizeof rights);
}

constexpr int unrolled = 32; ///< frames

#if defined(__x86_64__)
const bool has_avx = __builtin_cpu_supports("avx");

/// Moves multiples of `unrolled` frames of two channels.
[[gnu::target("avx")]] void part_wide(const float* from, float* left, float* right, int frames) noexcept {
    for (; frames > 0; frames -= unrolled, from += 2 * unrolled, left += unrolled, right += unrolled)
#pragma GCC unroll 4
        for (int i = 0; i < unrolled; i += 8) {
            const float* four = from + 2 * i;
            const __m256 even =
                _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(four)), _mm_loadu_ps(four + 8), 1);
            const __m256 odd =
                _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(four + 4)), _mm_loadu_ps(four + 12), 1);
            _mm256_storeu_ps(left + i, _mm256_shuffle_ps(even, odd, 0x88));
            _mm256_storeu_ps(right + i, _mm256_shuffle_ps(even, odd, 0xdd));
        }
}
#else
constexpr bool has_avx = false;
void part_wide(const float*, float*, float*, int) noexcept {}
#endif

/// Moves interleaved frames of two channels to `left` and `right`.
void part(const float* from, float* left, float* right, int frames) noexcept {
    for (; frames >= unrolled; frames -= unrolled, from += 2 * unrolled, left += unrolled, right += unrolled)
#pragma GCC unroll 8
        for (int i = 0; i < unrolled; i += 4)
            part_four(from + 2 * i, left + i, right + i);
    for (; frames >= 4; frames -= 4, from += 8, left += 4, right += 4)
        part_four(from, left, right);
    for (; frames > 0; --frames) {
        *left++ = *from++;
        *right++ = *from++;
    }
}

/// Moves interleaved frames to the outputs, from frame `at` on.
[[gnu::noinline]] void play_channels(const float* from, const ::Unit& unit, int at, int frames) noexcept {
    const size_t channels = unit.mNumOutputs;
    float* const* out = unit.mOutBuf;
    if (channels == 1) {
        std::memcpy(out[0] + at, from, size_t(frames) * sizeof(float));
        return;
    }
    for (int done = 0; done < frames; ++done)
        for (size_t channel = 0; channel < channels; ++channel)
            out[channel][at + done] = *from++;
}

inline void play(const float* from, const ::Unit& unit, int at, int frames) noexcept {
    if (unit.mNumOutputs == 2)
        (has_avx && frames % unrolled == 0 ? part_wide : part)(from, unit.mOutBuf[0] + at, unit.mOutBuf[1] + at,
                                                               frames);
    else
        play_channels(from, unit, at, frames);
}

// ---- asking for frames

/// Zeroes some of a half that was asked for of a buffer without a file; all of it by the time that it's played.
void zero_some(Player::Half& half, ::SndBuf& buffer, int frames) noexcept {
    const int count = std::min(frames, half.end - half.start);
    std::memset(buffer.data + size_t(half.start) * size_t(buffer.channels), 0,
                size_t(count) * size_t(buffer.channels) * sizeof(float));
    half.start += count;
}

/// Takes a step towards the halves that aren't there yet, the one first that was asked for first. `frames`: at least as
/// many as the unit plays in a block.
void pursue(Player& player, FileStream* stream, ::SndBuf& buffer, int frames) noexcept {
    const FaultGuard::HostCode uninterrupted;
    for (Player::Half* half : {&player.halves[1 - player.latest], &player.halves[player.latest]}) {
        if (half->start == half->end)
            continue;
        if (!stream) {
            zero_some(*half, buffer, 2 * frames + 4);
            continue;
        }
        if (half->request == 0)
            half->request = stream->request(half->kind, half->start, half->end - half->start);
        if (half->request == 0)
            return;
        stream->take_answers([&](int32_t end) { buffer.mask = end; });
        if (stream->is_done(half->request))
            half->start = half->end;
    }
}

/// Asks for a half of the buffer. `frames` as for pursue().
void ask(Player& player, FileStream* stream, ::SndBuf& buffer, Kind kind, int32_t start, int frames) noexcept {
    // Where the file ends in the half that comes now; the units are done when they get there.
    if (buffer.mask >= 0)
        buffer.mask1 = buffer.mask;
    if (!stream)
        buffer.mask = start; // as if a file had ended
    player.asked = &buffer;
    player.serial = serial_of(stream);
    player.latest = start > 0;
    player.halves[player.latest] = {start, start + buffer.frames / 2, kind, 0};
    pursue(player, stream, buffer, frames);
}

/// Takes a step towards the halves that were asked for, or forgets them.
[[gnu::noinline]] void go_on(Player& player, FileStream* stream, ::SndBuf& buffer, int frames) noexcept {
    // In another buffer, or one that was filled anew, nothing that was asked for is needed any more.
    if (serial_of(stream) != player.serial || player.asked != &buffer ||
        std::max(player.halves[0].end, player.halves[1].end) > buffer.frames) {
        for (Player::Half& half : player.halves)
            half.start = half.end = 0;
        return;
    }
    pursue(player, stream, buffer, frames);
}

/// To be called in each block, before anything is played. The stream, or null. `frames` as for pursue().
FileStream* attend(Player& player, ::SndBuf& buffer, int frames) noexcept {
    FileStream* const stream = stream_of(player);
    if (player.awaits_any()) [[unlikely]]
        go_on(player, stream, buffer, frames);
    return stream;
}

/// Whether any of the frames from `from` up to `to` of the buffer, which is seen as a circle, isn't there yet.
[[gnu::noinline]] bool lacks(const Player& player, const ::SndBuf& buffer, int64_t from, int64_t to) noexcept {
    for (const Player::Half& half : player.halves)
        if (half.start != half.end)
            for (const int64_t turn : {int64_t(-buffer.frames), int64_t(0), int64_t(buffer.frames)})
                if (from < half.end + turn && to > half.start + turn)
                    return true;
    return false;
}

/// Whether the player must wait for any of these frames.
bool waits_for(const Player& player, const FileStream* stream, const ::SndBuf& buffer, int64_t from,
               int64_t to) noexcept {
    return stream && player.awaits_any() && lacks(player, buffer, from, to);
}

[[gnu::noinline]] void wait(Player& player, FileStream& stream, int frames) noexcept {
    clear(player, frames);
    count_late(player, stream.counts().silent, frames, "a file wasn't read in time: %llu frames of silence so far\n");
}

/// `position`: in the buffer, 0 or more.
template <class T>
bool ends_before(const ::SndBuf& buffer, T position) noexcept {
    return buffer.mask1 >= 0 && position >= T(buffer.mask1);
}

// ---- DiskIn: buffer, loop

struct DiskIn : Player {
    uint32_t position; ///< the frame of the buffer that comes next
    /// What the last block found. As long as all of it is so, nothing else has to be looked at before `limit`.
    struct {
        uint32_t limit; ///< the end of the half; 0: look at everything
        int32_t loop;   ///< the bits of input 1
        const float* data;
        int32_t frames;
        const void* file;
        uint64_t serial;
    } last;

    int32_t loop_bits() const noexcept {
        int32_t bits;
        std::memcpy(&bits, mInBuf[1], sizeof bits);
        return bits;
    }
    /// Whether the next block is in the middle of a half that is there, and nothing has changed since the last one.
    bool goes_on(int count) const noexcept {
        return position + uint32_t(count) < last.limit && in(0) == number && loop_bits() == last.loop &&
               buffer->data == last.data && buffer->frames == last.frames && buffer->channels == int(mNumOutputs) &&
               buffer->mask1 < 0 && buffer->sndfile == last.file && serial_of(stream_of(*this)) == last.serial;
    }
    void remember(uint32_t end) noexcept {
        last = {end, loop_bits(), buffer->data, buffer->frames, buffer->sndfile, serial_of(stream_of(*this))};
    }
};

/// Plays a loop of a file that is in the buffer as a whole: nothing has to be read.
[[gnu::noinline]] void play_whole(DiskIn& unit, const ::SndBuf& buffer, uint32_t length, int frames) noexcept {
    if (length == 0) {
        clear(unit, frames);
        unit.mDone = true;
        return;
    }
    unit.position %= length;
    for (int done = 0; done < frames;) {
        const int count = int(std::min(uint32_t(frames - done), length - unit.position));
        play(buffer.data + size_t(unit.position) * size_t(buffer.channels), unit, done, count);
        done += count;
        unit.position += uint32_t(count);
        if (unit.position == length)
            unit.position = 0;
    }
}

[[gnu::noinline]] void look_and_play(DiskIn& unit, int frames) noexcept {
    unit.last.limit = 0;
    ::SndBuf& buffer = find_buffer(unit);
    if (!has_halves(*unit.mWorld, buffer)) {
        unit.position = 0;
        clear(unit, frames);
        return;
    }
    if (unit.mNumOutputs != uint32_t(buffer.channels)) {
        clear(unit, frames);
        return;
    }
    FileStream* const stream = attend(unit, buffer, frames);
    const bool loops = int(unit.in(1)) != 0;
    if (const int32_t length = stream && loops ? stream->whole() : -1; length >= 0) {
        play_whole(unit, buffer, uint32_t(length), frames);
        return;
    }
    const auto size = uint32_t(buffer.frames), half = size / 2;
    unit.position &= ~uint32_t(frames - 1); // a loop in the buffer may have left it anywhere
    if (unit.position >= size)
        unit.position = 0;
    if (waits_for(unit, stream, buffer, unit.position, int64_t(unit.position) + frames)) {
        wait(unit, *stream, frames);
        return;
    }
    play(buffer.data + size_t(unit.position) * size_t(buffer.channels), unit, 0, frames);
    if (ends_before(buffer, unit.position))
        unit.mDone = true;
    unit.position += uint32_t(frames);
    if (unit.position == size)
        unit.position = 0;
    if (unit.position == 0 || unit.position == half)
        ask(unit, stream, buffer, loops ? Kind::loop : Kind::read, int32_t(half - unit.position), frames);
    else if (!unit.awaits_any())
        unit.remember(unit.position < half ? half : size);
}

void disk_in(::Unit* self, int frames) {
    auto& unit = *static_cast<DiskIn*>(self);
    if (!unit.goes_on(frames)) {
        look_and_play(unit, frames);
        return;
    }
    play(unit.last.data + size_t(unit.position) * unit.mNumOutputs, unit, 0, frames);
    unit.position += uint32_t(frames);
}

void start_disk_in(::Unit* unit) {
    unit->mCalcFunc = disk_in;
    clear(*unit, 1);
}

// ---- VDiskIn: buffer, rate, loop, ID of its messages

struct VDiskIn : Player {
    double position; ///< in the buffer
    float rate;
    uint32_t count; ///< of the halves that it asked for so far
    bool plain;     ///< its rate is 1 for ever: nothing is interpolated
    bool started, complained;
};

void tell_position(VDiskIn& unit, uint32_t half) noexcept {
    const int id = int(unit.in(3));
    const auto frame = float(unit.position + double(float(unit.count * half)));
    if (id)
        interface_table()->fSendNodeReply(&unit.mParent->mNode, id, "/diskin", 1, &frame);
}

void ask_next(VDiskIn& unit, FileStream* stream, ::SndBuf& buffer, int frames) noexcept {
    const int32_t half = buffer.frames / 2;
    ++unit.count;
    ask(unit, stream, buffer, int(unit.in(2)) != 0 ? Kind::loop : Kind::read, unit.position >= half ? 0 : half, frames);
    tell_position(unit, uint32_t(half));
}

/// At rate 1. The loop of a whole file has `length` frames.
void play_plain(VDiskIn& unit, FileStream* stream, ::SndBuf& buffer, uint32_t length, int frames) noexcept {
    const bool is_whole = length != uint32_t(buffer.frames);
    const uint32_t half = uint32_t(buffer.frames) / 2;
    auto position = uint32_t(unit.position);
    if (position >= length)
        position %= length;
    bool passed = false;
    for (int done = 0; done < frames;) {
        const uint32_t limit = !is_whole && position < half ? half : length;
        const int count = int(std::min(uint32_t(frames - done), limit - position));
        play(buffer.data + size_t(position) * size_t(buffer.channels), unit, done, count);
        done += count;
        position += uint32_t(count);
        passed |= position == limit;
        if (position == length)
            position = 0;
    }
    unit.position = position;
    if (is_whole)
        return;
    if (ends_before(buffer, position))
        unit.mDone = true;
    if (passed)
        ask_next(unit, stream, buffer, frames);
}

/// Between b and c, by Hermite's cubic; T is a float or a vector of floats.
template <class T>
T cubic(float part, T a, T b, T c, T d) noexcept {
    const T c1 = 0.5f * (c - a);
    const T c2 = a - 2.5f * b + 2.f * c - 0.5f * d;
    const T c3 = 0.5f * (d - a) + 1.5f * (b - c);
    return ((c3 * part + c2) * part + c1) * part + b;
}

/// Two neighbouring samples.
Four two(const float* from) noexcept {
    Four both{};
    std::memcpy(&both, from, 2 * sizeof(float));
    return both;
}

/// At any rate, which goes to `rate` within the block.
void play_varied(VDiskIn& unit, FileStream* stream, ::SndBuf& buffer, uint32_t length, float rate,
                 int frames) noexcept {
    const bool is_whole = length != uint32_t(buffer.frames);
    const double size = buffer.frames, half = buffer.frames / 2;
    const size_t channels = unit.mNumOutputs;
    const float slope = float(double(rate - unit.rate) * unit.mRate->mSlopeFactor);
    double position = unit.position;
    if (is_whole)
        position = std::fmod(position, double(length));
    bool passed = false;
    int sample = 0;
    if (!unit.started) {
        // scsynth's position doesn't move during the first sample.
        for (size_t channel = 0; channel < channels; ++channel)
            unit.mOutBuf[channel][0] = buffer.data[channel];
        sample = 1;
    }
    // Copies that stay in registers.
    const float* const data = buffer.data;
    float* const* const out = unit.mOutBuf;
    float now = unit.rate;
    for (; sample < frames; ++sample) {
        const auto whole = uint32_t(int64_t(position));
        const auto part = float(position - double(whole));
        const uint32_t b = whole >= length ? whole - length : whole, a = b ? b - 1 : length - 1;
        const uint32_t c = b + 1 == length ? 0 : b + 1, d = c + 1 == length ? 0 : c + 1;
        if (channels == 2) {
            const Four both = cubic(part, two(data + size_t(a) * 2), two(data + size_t(b) * 2),
                                    two(data + size_t(c) * 2), two(data + size_t(d) * 2));
            out[0][sample] = both[0];
            out[1][sample] = both[1];
        } else {
            for (size_t channel = 0; channel < channels; ++channel)
                out[channel][sample] = cubic(part, data[a * channels + channel], data[b * channels + channel],
                                             data[c * channels + channel], data[d * channels + channel]);
        }
        now += slope;
        const double before = position;
        position += now;
        if (is_whole) {
            if (position >= length)
                position = std::fmod(position, double(length));
            continue;
        }
        // One frame later than it is left: the interpolation looks back.
        passed |= before < half + 1 && position >= half + 1;
        if (position >= size + 1) {
            passed = true;
            position -= size;
        }
    }
    unit.rate = now;
    unit.started = true;
    unit.position = position;
    if (is_whole)
        return;
    if (ends_before(buffer, position))
        unit.mDone = true;
    if (passed)
        ask_next(unit, stream, buffer, int(rate * float(frames)) + 1);
}

void vdisk_in(::Unit* self, int frames) {
    auto& unit = *static_cast<VDiskIn*>(self);
    ::SndBuf& buffer = find_buffer(unit);
    if (!has_halves(*unit.mWorld, buffer)) {
        unit.count = 0;
        clear(unit, frames);
        return;
    }
    if (unit.mNumOutputs != uint32_t(buffer.channels)) {
        clear(unit, frames);
        return;
    }
    const float given = unit.in(1), rate = given > 0 ? given : 0.f;
    const auto too_high = [&](float r) { return !(r * float(frames) * float(1. / buffer.frames) < 0.5f); };
    if (!unit.plain && too_high(rate)) {
        if (!unit.complained)
            interface_table()->fPrint("VDiskIn: the rate is too high for a buffer of %d frames\n", buffer.frames);
        unit.complained = true;
        clear(unit, frames);
        return;
    }
    if (!unit.plain && too_high(unit.rate))
        unit.rate = rate;
    const int advance = unit.plain ? frames : int(std::max(unit.rate, rate) * float(frames)) + 1;
    FileStream* const stream = attend(unit, buffer, advance);
    auto length = uint32_t(buffer.frames);
    if (const int32_t whole = stream && int(unit.in(2)) != 0 ? stream->whole() : -1; whole >= 0)
        length = uint32_t(whole);
    if (length == 0) {
        clear(unit, frames);
        unit.mDone = true;
        return;
    }
    if (!(unit.position < buffer.frames + 1))
        unit.position = 0; // the buffer was replaced by a shorter one
    const auto from = int64_t(unit.position), to = from + advance;
    if (waits_for(unit, stream, buffer, unit.plain ? from : from - 1, unit.plain ? to : to + 3)) {
        wait(unit, *stream, frames);
        return;
    }
    if (unit.plain)
        play_plain(unit, stream, buffer, length, frames);
    else
        play_varied(unit, stream, buffer, length, rate, frames);
}

void start_vdisk_in(::Unit* self) {
    auto& unit = *static_cast<VDiskIn*>(self);
    unit.rate = std::max(unit.in(1), 0.f);
    unit.plain = unit.mInput[1]->mCalcRate == calc_ScalarRate && unit.rate == 1;
    unit.mCalcFunc = vdisk_in;
    clear(unit, 1);
}

// ---- DiskOut: buffer, signals

struct DiskOut : StreamUnit {
    uint32_t position, recorded;
    uint64_t requests[2]; ///< the last one for each half
};

/// Moves the inputs to interleaved frames.
void record(const ::Unit& unit, float* to, int frames) noexcept {
    const size_t channels = unit.mNumInputs - 1;
    const float* const* in = unit.mInBuf + 1;
    if (channels == 1) {
        std::memcpy(to, in[0], size_t(frames) * sizeof(float));
        return;
    }
    for (int done = 0; done < frames; ++done)
        for (size_t channel = 0; channel < channels; ++channel)
            *to++ = in[channel][done];
}

/// Has the frames written that lie between the half's start and `end`.
void write(DiskOut& unit, FileStream& stream, int32_t start, int32_t end) noexcept {
    const FaultGuard::HostCode whole;
    const uint64_t request = stream.request(Kind::write, start, end - start);
    stream.take_answers([&](int32_t at) { unit.buffer->mask = at; });
    unit.requests[start > 0] = request;
    if (request == 0 && stream.is_open())
        count_late(unit, stream.counts().dropped, end - start,
                   "a file wasn't written in time: %llu frames were dropped so far\n");
}

void disk_out(::Unit* self, int frames) {
    auto& unit = *static_cast<DiskOut*>(self);
    ::SndBuf& buffer = find_buffer(unit);
    if (!has_halves(*unit.mWorld, buffer)) {
        unit.position = 0;
        clear(unit, frames);
        return;
    }
    if (unit.mNumInputs - 1 != uint32_t(buffer.channels)) {
        clear(unit, frames);
        return;
    }
    FileStream* const stream = stream_of(unit);
    if (const uint64_t serial = serial_of(stream); serial != unit.serial) {
        unit.serial = serial;
        unit.requests[0] = unit.requests[1] = 0;
    }
    const auto size = uint32_t(buffer.frames), half = size / 2;
    if (unit.position >= size)
        unit.position = 0;
    float* const out = unit.mOutBuf[0];
    if (stream) {
        stream->take_answers([&](int32_t end) { buffer.mask = end; });
        if (!stream->is_done(unit.requests[unit.position >= half]) && stream->is_open()) {
            std::fill_n(out, frames, float(unit.recorded));
            count_late(unit, stream->counts().dropped, frames,
                       "a file wasn't written in time: %llu frames were dropped so far\n");
            return;
        }
    }
    // The output may share its memory with an input.
    record(unit, buffer.data + size_t(unit.position) * size_t(buffer.channels), frames);
    for (int i = 0; i < frames; ++i)
        out[i] = float(unit.recorded++);
    unit.position += uint32_t(frames);
    const uint32_t reached = unit.position;
    if (unit.position == size)
        unit.position = 0;
    if (stream && (reached == half || reached == size))
        write(unit, *stream, int32_t(reached - half), int32_t(reached));
}

void start_disk_out(::Unit* unit) {
    unit->mCalcFunc = disk_out;
    clear(*unit, 1);
}

/// The last half is written as far as it was recorded.
void end_disk_out(::Unit* self) {
    auto& unit = *static_cast<DiskOut*>(self);
    FileStream* const stream = unit.buffer ? stream_of(unit) : nullptr;
    if (!stream || stream->serial() != unit.serial)
        return;
    const auto position = int32_t(unit.position), half = unit.buffer->frames / 2;
    const int32_t start = position > half ? half : 0;
    if (position > 0 && position != half && position <= unit.buffer->frames)
        write(unit, *stream, start, position);
}

} // namespace

void define_stream_units(PluginRegistry& registry) {
    registry.define_unit("DiskIn", sizeof(DiskIn), start_disk_in, nullptr, 0);
    registry.define_unit("VDiskIn", sizeof(VDiskIn), start_vdisk_in, nullptr, 0);
    registry.define_unit("DiskOut", sizeof(DiskOut), start_disk_out, end_disk_out, 0);
}

} // namespace scs
