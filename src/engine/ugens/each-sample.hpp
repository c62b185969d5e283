// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// For units that compute each sample from their inputs and a few numbers that they keep, without branches, at any
// rates.
//
// Such a Unit has: `inputs`; `follows`, a bit for each input whose every sample is used if it is at audio rate (of
// other inputs only the first sample in a block is); `doubles` and `floats`, how many of each it keeps; step(), which
// computes the next sample; begin(), which fills in what it keeps at the start; start(), which computes the first
// sample after that; and steps_back(), whether it forgets what start() changed. SampleUnit has what most have of the
// last three. A Unit that is `wide` has samples in double precision; with a second output it puts out there what the
// first is off by (see synthdef/fine-phases.hpp).

#include "engine/ugens/forms.hpp"
#include "engine/ugens/own-rate.hpp"

namespace scs::SCS_SIMD {

namespace detail {
template <class T, int Count, int N>
struct Items {
    T item[Count][N];
};
template <class T, int N>
struct Items<T, 0, N> {};
} // namespace detail

/// What a Unit keeps, and its rate.
template <class Unit, int N>
struct Kept {
    F64<N> d[Unit::doubles ? Unit::doubles : 1];
    F32<N> f[Unit::floats ? Unit::floats : 1];
    UnitRate rate;

    /// An integer stored in place of a float.
    SCS_INLINE I32<N> integer(int index) const { return bits<int32_t>(f[index]); }
    SCS_INLINE void keep_integer(int index, I32<N> value) { f[index] = bits<float>(value); }
};

/// The defaults of a Unit, as most are: their constructors compute a sample, and since 3.14 they undo what that
/// changed.
template <class Unit>
struct SampleUnit {
    static constexpr bool wide = false;
    SCS_INLINE static bool steps_back(Release release) { return release >= Release::v3_14; }
    SCS_INLINE static void begin(Kept<Unit, 1>&, const F32<1>*, Release) {}
    SCS_INLINE static auto start(Kept<Unit, 1>& kept, const F32<1>* in, Release) { return Unit::step(kept, in); }
};

template <int N>
SCS_INLINE F32<N> single(F32<N> sample) {
    return sample;
}
template <int N>
SCS_INLINE F32<N> single(F64<N> sample) {
    return convert<float>(sample);
}
/// What single() leaves out.
template <int N>
SCS_INLINE F32<N> rest(F64<N> sample) {
    return convert<float>(sample - convert<double>(convert<float>(sample)));
}

/// Fine: with a second output.
template <class Unit, bool Fine = false>
struct EachSample {
    template <int N>
    struct State : detail::Items<double, Unit::doubles, N>, detail::Items<float, Unit::floats, N> {
        static constexpr size_t items64 = Unit::doubles;
        using Doubles = detail::Items<double, Unit::doubles, N>;
        using Floats = detail::Items<float, Unit::floats, N>;
    };

    template <int N>
    struct Kept : SCS_SIMD::Kept<Unit, N> {
        SCS_INLINE Kept(const Op& op, const Block& block)
            : SCS_SIMD::Kept<Unit, N>{{}, {}, own_rate(op, block)}, s_(state<State<N>>(op, block)) {
            if constexpr (Unit::doubles != 0)
                for (int i = 0; i < Unit::doubles; ++i)
                    this->d[i] = F64<N>::load(s_.State<N>::Doubles::item[i]);
            if constexpr (Unit::floats != 0)
                for (int i = 0; i < Unit::floats; ++i)
                    this->f[i] = F32<N>::load(s_.State<N>::Floats::item[i]);
        }
        SCS_INLINE void store() const {
            if constexpr (Unit::doubles != 0)
                for (int i = 0; i < Unit::doubles; ++i)
                    this->d[i].store(s_.State<N>::Doubles::item[i]);
            if constexpr (Unit::floats != 0)
                for (int i = 0; i < Unit::floats; ++i)
                    this->f[i].store(s_.State<N>::Floats::item[i]);
        }

    private:
        State<N>& s_;
    };

    template <class Form>
    struct Run {
        static constexpr int N = Form::width;
        static void run(const Op& op, Block& block) SCS_NONBLOCKING {
            Kept<N> kept(op, block);
            const float* wires[Unit::inputs];
            int strides[Unit::inputs];
            F32<N> in[Unit::inputs];
            for (int k = 0; k < Unit::inputs; ++k) {
                wires[k] = input(op, block, size_t(k));
                strides[k] = is_audio(op, size_t(k)) ? N : 0;
                in[k] = F32<N>::load(wires[k]);
            }
            float* out = output(op, block);
            float* rests = Fine ? output(op, block, 1) : nullptr;
            for (int i = 0, n = own_frames(op, block); i < n; ++i) {
                for (int k = 0; k < Unit::inputs; ++k)
                    if (Unit::follows >> k & 1)
                        in[k] = F32<N>::load(wires[k] + i * strides[k]);
                const auto sample = Unit::step(kept, in);
                Form::put(out, i, single(sample));
                if constexpr (Fine)
                    Form::put(rests, i, rest(sample));
            }
            kept.store();
        }
    };

    static void start(const Op& op, Block& block) SCS_NONBLOCKING {
        Kept<1> kept(op, block);
        F32<1> in[Unit::inputs];
        for (int k = 0; k < Unit::inputs; ++k)
            in[k] = F32<1>(*input(op, block, size_t(k)));
        const Release release = block.space->release;
        Unit::begin(kept, in, release);
        if (Unit::steps_back(release))
            kept.store();
        const auto sample = Unit::start(kept, in, release);
        single(sample).store(output(op, block));
        if constexpr (Fine)
            rest(sample).store(output(op, block, 1));
        if (!Unit::steps_back(release))
            kept.store();
    }

    static constexpr Kernel kernel = vector_kernel<Run, State, Scalar>(start);
    static const Kernel* choose(const Signature& s) {
        if constexpr (Unit::wide && !Fine)
            if (s.outputs == 2)
                return EachSample<Unit, true>::choose(s);
        return s.inputs.size() == Unit::inputs ? &kernel : nullptr;
    }
};

template <int N>
SCS_INLINE I32<N> rises(F32<N> before, F32<N> now) {
    return (before <= F32<N>(0.f)) & (now > F32<N>(0.f));
}

} // namespace scs::SCS_SIMD
