// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/ugens/families.hpp"
#include "engine/ugens/grain.hpp"
#include "engine/ugens/memory.hpp"
#include "engine/ugens/taus88.hpp"

// Warp1: each channel of a buffer is played in grains, which begin at a place that is told, one after the other as
// often as they are to overlap.

namespace scs::SCS_SIMD {
namespace {

enum { buffer_number, pointer, speed, window_size, window, overlaps, spread, interpolation, inputs };

constexpr size_t most_outputs = 16;
constexpr int32_t most_grains = 64; ///< of a channel
constexpr int at_once = 64;         ///< frames

struct Grain {
    GrainEnvelope envelope;
    double place, rate;
    int32_t points, frames; ///< frames: how many are left
};

struct Channel {
    Grain grains[most_grains];
    int32_t count;
    uint32_t next; ///< in how many frames a grain begins; 0 is far away
};

template <int N>
struct WarpState {
    static constexpr size_t items64 = 1;
    Channel* channels[N]; ///< one for each output; null: there was no memory for them
};

/// A voice's block.
template <int L>
class Warper {
public:
    SCS_INLINE Warper(const Op& op, const Block& block, int lane, const SampleBuffer& buffer)
        : op_(op), block_(block), lane_(lane), buffer_(buffer) {}

    void run(Channel& channel, int index, Taus88& random) const {
        float* const out = output(op_, block_, size_t(index)) + lane_;
        for (int32_t g = 0; g < channel.count;) {
            Grain& grain = channel.grains[g];
            if (!sound(grain, grain.place, grain.rate, index, out, block_.frames))
                break;
            if (grain.frames <= 0)
                grain = channel.grains[--channel.count];
            else
                ++g;
        }
        for (int i = 0; i < block_.frames; ++i) {
            if (--channel.next != 0)
                continue;
            if (channel.count + 1 >= most_grains)
                break;
            begin(channel, index, i, out, random);
        }
    }

private:
    float in(size_t input, int frame) const { return LaneIn<L>(op_, block_, input, lane_).at(frame); }

    [[gnu::noinline]] void begin(Channel& channel, int index, int from, float* out, Taus88& random) const {
        const double samples = block_.audio->samples;
        const auto length = float(double(in(window_size, from)) * samples);
        const double varied = double(random.bipolar()) * double(in(spread, from));
        const double whole = floor(F64<1>(double(length) + double(length) * varied))[0];
        const auto frames = float(shortest_grain > whole ? shortest_grain : whole);
        channel.next = uint32_t(int_of(frames / in(overlaps, from)));
        Grain& grain = channel.grains[channel.count];
        grain.frames = int_of(frames);
        if (!grain.envelope.begin(block_, float(int_of(in(window, from))), double(frames)))
            return;
        const auto scale = float(double(float(buffer_.rate)) * block_.audio->duration);
        auto rate = in(speed, from) * scale, place = in(pointer, from) * float(buffer_.frames);
        grain.rate = double(rate);
        grain.points = int_of(in(interpolation, from));
        if (!(place - place == 0.f))
            return;
        // In single precision until the block ends, as in SuperCollider.
        (void)sound(grain, place, rate, index, out + from * L, block_.frames - from);
        grain.place = double(place);
        channel.count += grain.frames > 0;
    }

    /// Adds a grain's frames. false: its envelope's buffer has gone.
    template <class Place>
    [[gnu::noinline]] bool sound(Grain& grain, Place& place, Place rate, int channel, float* out, int most) const {
        const int end = grain.frames < most ? grain.frames : most;
        alignas(64) float heights[at_once], samples[at_once];
        for (int at = 0; at < end; at += at_once) {
            const int frames = end - at < at_once ? end - at : at_once;
            if (!grain.envelope.run(block_, frames, heights))
                return false;
            read_around(buffer_, channel, place, rate, grain.points, frames, samples);
            for (int i = 0; i < frames; ++i)
                out[(at + i) * L] += heights[i] * samples[i];
        }
        grain.frames -= end;
        return true;
    }

    const Op& op_;
    const Block& block_;
    const int lane_;
    const SampleBuffer buffer_;
};

template <int L>
struct Warp {
    static void run(const Op& op, Block& block) SCS_NONBLOCKING {
        const auto& s = state<WarpState<L>>(op, block);
        Taus88 random(block);
        each_lane<L>(block, [&](int lane) {
            for (size_t k = 0; k < op.outputs; ++k)
                for (int i = 0; i < block.frames; ++i)
                    output(op, block, k)[i * L + lane] = 0.f;
            const SampleBuffer buffer = buffer_of(block, lane, input(op, block, buffer_number)[lane]);
            if (!s.channels[lane] || !buffer.data || buffer.frames < 1 || op.outputs > buffer.channels)
                return;
            const Warper<L> warper(op, block, lane, buffer);
            for (int k = 0; k < op.outputs; ++k)
                warper.run(s.channels[lane][k], k, random);
        });
    }
};

void start(const Op& op, Block& block) SCS_NONBLOCKING {
    for (size_t k = 0; k < op.outputs; ++k)
        *output(op, block, k) = 0.f;
    Channel* const channels = claim<Channel>(block, op.outputs);
    state<WarpState<1>>(op, block).channels[0] = channels;
    if (!channels)
        return complain_of_memory(op, block);
    for (size_t k = 0; k < op.outputs; ++k) {
        channels[k].count = 0;
        channels[k].next = 1;
    }
}

constexpr Kernel kernel = [] {
    Kernel made = drawing<Warp, WarpState>(start);
    made.stop = give_back<&WarpState<1>::channels>;
    made.reads_buffers = true;
    made.reads_after_writing = true;
    made.start_cost = 1000;
    made.takes_long = true;
    made.batch = nullptr; // as with grains
    return made;
}();

const Kernel* choose(const Signature& s) {
    if (s.rate != Rate::audio || s.inputs.size() != inputs || s.outputs < 1 || s.outputs > most_outputs)
        return nullptr;
    for (const Signature::Input& input : s.inputs)
        if (input.rate == Rate::demand)
            return nullptr;
    return &kernel;
}

constexpr NativeUgen list[] = {{"Warp1", choose}};

} // namespace

SCS_FAMILY(warp)

} // namespace scs::SCS_SIMD
