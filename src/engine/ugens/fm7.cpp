// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/ugens/families.hpp"
#include "engine/ugens/own-rate.hpp"
#include "engine/ugens/sine-tables.hpp"
#include "engine/ugens/table-phase.hpp"

namespace scs::SCS_SIMD {
namespace {

// sc3-plugins' FM7: six sines, each of which modulates the phases of all. Lines over a block are summed up frame by
// frame in single precision as there, because what they are off by stays in the sines' phases. All of a frame's sines
// depend on the frame before alone: a lone voice has them side by side in a vector.

constexpr int sines = 6;
constexpr int parameters = 3; ///< of a sine, the first inputs: frequency, phase, level
constexpr int first_amount = parameters * sines;
constexpr int inputs = first_amount + sines * sines;

template <int N>
struct Fm7State {
    static constexpr size_t items64 = 0;
    uint32_t phase[sines][N];
    float parameter[parameters][sines][N];
    float last[sines][N];
    float amount[sines * sines][N]; ///< [target * sines + source], radians
};

/// Sines in the lanes of a vector: of several voices, or several of a voice.
template <int N>
struct Lanes {
    U32<N> phase;
    F32<N> value[parameters], slope[parameters];
    F32<N> last;

    SCS_INLINE void next(F32<N> modulation, F32<N> cycle) {
        last = value[2] * wavetable_sine(phase + whole_phase(modulation * F32<N>(float(phase_radian))));
        phase += whole_phase(value[0] * cycle);
        for (int p = 0; p < parameters; ++p)
            value[p] += slope[p];
    }
};

/// All sines of a vector's voices, in `Vectors` vectors. Sine s is lane s % N of vector s / N, if Packed; otherwise
/// each has a vector of its own.
template <int N, int Vectors, bool Packed>
struct Bank {
    Lanes<N> vector[Vectors];
    F32<N> amount[sines][Vectors], growth[sines][Vectors]; ///< [source][target]
    bool grows;

    template <bool Grows>
    SCS_INLINE void next(F32<N> cycle) {
        F32<N> sum[Vectors];
        for (int v = 0; v < Vectors; ++v)
            sum[v] = vector[v].value[1];
        for (int source = 0; source < sines; ++source) {
            const F32<N> last = Packed ? F32<N>(vector[source / N].last[source % N]) : vector[source].last;
            for (int v = 0; v < Vectors; ++v) {
                sum[v] += amount[source][v] * last;
                if constexpr (Grows)
                    amount[source][v] += growth[source][v];
            }
        }
        for (int v = 0; v < Vectors; ++v)
            vector[v].next(sum[v], cycle);
    }
};

/// Where a number of a sine lies in a Bank of one voice, or of several.
template <int L>
struct Form7 {
    static constexpr bool packed = L == 1;
    static constexpr int width = lanes, vectors = packed ? (sines + lanes - 1) / lanes : sines;
    using Numbers = Bank<width, vectors, packed>;

    /// From [sines][L], with zeros in the lanes that no sine has.
    template <class T>
    SCS_INLINE static void load(const T (&from)[sines][L], Vec<T, width>* to) {
        for (int v = 0; v < vectors; ++v) {
            if constexpr (packed) {
                T row[width];
                for (int k = 0; k < width; ++k)
                    row[k] = v * width + k < sines ? from[(v * width + k) % sines][0] : T(0);
                to[v] = Vec<T, width>::load(row);
            } else {
                to[v] = Vec<T, width>::load(from[v]);
            }
        }
    }
    template <class T>
    SCS_INLINE static void store(const Vec<T, width>* from, T (&to)[sines][L]) {
        for (int s = 0; s < sines; ++s) {
            if constexpr (packed)
                to[s][0] = from[s / width][s % width];
            else
                from[s].store(to[s]);
        }
    }
};

template <int L>
struct FM7 {
    using Form = Form7<L>;
    using F = F32<Form::width>;
    static constexpr int vectors = Form::vectors;

    static void run(const Op& op, Block& block) SCS_NONBLOCKING {
        auto& s = state<Fm7State<L>>(op, block);
        typename Form::Numbers bank;
        const int n = own_frames(op, block);
        const float part = 1.f / float(n);
        load(op, block, s, bank, part);
        const F cycle(float(own_rate(op, block).duration * phase_cycle));
        if (bank.grows)
            frames<true>(op, block, bank, cycle, n);
        else
            frames<false>(op, block, bank, cycle, n);
        store(s, bank);
    }

private:
    template <bool Grows>
    [[gnu::noinline, gnu::flatten]] static void frames(const Op& op, const Block& block, typename Form::Numbers& kept,
                                                       F cycle, int n) {
        typename Form::Numbers bank = kept;
        float* out[sines];
        for (int s = 0; s < sines; ++s)
            out[s] = output(op, block, size_t(s));
        for (int i = 0; i < n; ++i) {
            bank.template next<Grows>(cycle);
            for (int s = 0; s < sines; ++s) {
                if constexpr (Form::packed)
                    out[s][i] = bank.vector[s / Form::width].last[s % Form::width];
                else
                    bank.vector[s].last.store(out[s] + i * L);
            }
        }
        kept = bank;
    }

    SCS_INLINE static F slope(F now, F next, float part) {
        return select(next == now, -0.f, (next - now) * F(part)); // adding minus zero changes nothing
    }
    static void load(const Op& op, const Block& block, const Fm7State<L>& s, typename Form::Numbers& bank, float part) {
        U32<Form::width> phase[vectors];
        F last[vectors], now[vectors], next[vectors];
        float wanted[sines][L];
        const auto get_wanted = [&](int first, int step) {
            for (int k = 0; k < sines; ++k)
                F32<L>::load(input(op, block, size_t(first + k * step))).store(wanted[k]);
            Form::load(wanted, next);
        };
        Form::load(s.phase, phase);
        Form::load(s.last, last);
        for (int v = 0; v < vectors; ++v) {
            bank.vector[v].phase = phase[v];
            bank.vector[v].last = last[v];
        }
        for (int p = 0; p < parameters; ++p) {
            get_wanted(p, parameters);
            Form::load(s.parameter[p], now);
            for (int v = 0; v < vectors; ++v) {
                bank.vector[v].value[p] = now[v];
                bank.vector[v].slope[p] = slope(now[v], next[v], part);
            }
        }
        bank.grows = false;
        for (int source = 0; source < sines; ++source) {
            float kept[sines][L];
            for (int target = 0; target < sines; ++target)
                F32<L>::load(s.amount[target * sines + source]).store(kept[target]);
            Form::load(kept, bank.amount[source]);
            get_wanted(first_amount + source, sines);
            for (int v = 0; v < vectors; ++v) {
                const F from = bank.amount[source][v];
                bank.growth[source][v] = slope(from, next[v], part);
                bank.grows |= any(next[v] != from);
            }
        }
    }
    static void store(Fm7State<L>& s, const typename Form::Numbers& bank) {
        U32<Form::width> phase[vectors];
        F row[vectors];
        for (int v = 0; v < vectors; ++v)
            phase[v] = bank.vector[v].phase;
        Form::store(phase, s.phase);
        for (int v = 0; v < vectors; ++v)
            row[v] = bank.vector[v].last;
        Form::store(row, s.last);
        for (int p = 0; p < parameters; ++p) {
            for (int v = 0; v < vectors; ++v)
                row[v] = bank.vector[v].value[p];
            Form::store(row, s.parameter[p]);
        }
        for (int source = 0; source < sines; ++source) {
            float kept[sines][L];
            Form::store(bank.amount[source], kept);
            for (int target = 0; target < sines; ++target)
                F32<L>::load(kept[target]).store(s.amount[target * sines + source]);
        }
    }
};

/// The first sample is kept.
void start(const Op& op, Block& block) SCS_NONBLOCKING {
    auto& s = state<Fm7State<1>>(op, block);
    for (int k = 0; k < sines; ++k)
        for (int p = 0; p < parameters; ++p)
            s.parameter[p][k][0] = *input(op, block, size_t(k * parameters + p));
    for (int k = 0; k < sines * sines; ++k)
        s.amount[k][0] = *input(op, block, size_t(first_amount + k));
    run_first_frame(FM7<1>::run, op, block);
}

constexpr Kernel kernel = [] {
    Kernel made = lane_kernel<FM7, Fm7State>(start);
    made.start_cost = 1000;
    return made;
}();

constexpr NativeUgen list[] = {
    {"FM7",
     [](const Signature& s) {
         return s.rate != Rate::scalar && s.inputs.size() == inputs && s.outputs == sines ? &kernel : nullptr;
     },
     Gives::nothing, true},
};

} // namespace

SCS_FAMILY(fm7)

} // namespace scs::SCS_SIMD
