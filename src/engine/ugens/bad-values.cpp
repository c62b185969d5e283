// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/simd/math.hpp"
#include "engine/ugens/any-input.hpp"
#include "engine/ugens/families.hpp"
#include "engine/ugens/wrapping.hpp"

// CheckBadValues and Sanitize. Denormals count as zero, so neither finds any, as in scsynth.

namespace scs::SCS_SIMD {
namespace {

enum { in, replacement };
enum { post = 2 };

template <class F>
SCS_INLINE auto is_infinite(F x) {
    return abs(x) > F(largest);
}

/// 1 for what is no number, 2 for what is infinite, else 0.
template <class Form>
struct CheckBadValues {
    static void run(const Op& op, Block& block) SCS_NONBLOCKING {
        using F = typename Form::F;
        const float* from = input(op, block, in);
        float* out = output(op, block);
        for (int i = 0, n = own_steps<Form>(op, block); i < n; ++i) {
            const F x = Form::audio(from, i);
            Form::put(out, i, select(is_nan(x), 1.f, select(is_infinite(x), 2.f, F(0.f))));
        }
    }
};

template <class Form>
struct Sanitize {
    using F = typename Form::F;
    static void run(const Op& op, Block& block) SCS_NONBLOCKING {
        const float* other = input(op, block, replacement);
        if (is_audio(op, replacement))
            replace(op, block, AudioIn<Form>{other});
        else
            replace(op, block, HeldIn<Form>{Form::control(other)});
    }
    template <class In>
    SCS_INLINE static void replace(const Op& op, const Block& block, In other) {
        const float* from = input(op, block, in);
        float* out = output(op, block);
        for (int i = 0, n = own_steps<Form>(op, block); i < n; ++i) {
            const F x = Form::audio(from, i);
            Form::put(out, i, select(is_nan(x) | is_infinite(x), other.at(i), x));
        }
    }
};

template <template <class> class K>
void start(const Op& op, Block& block) SCS_NONBLOCKING {
    run_first_frame(K<Scalar>::run, op, block);
}

template <template <class> class K>
const Kernel* choose(const Signature& s) {
    static constexpr Kernel audio = any_rate_kernel<K, Stateless>(true, start<K>);
    static constexpr Kernel control = any_rate_kernel<K, Stateless>(false, start<K>);
    if (s.rate != Rate::audio)
        return s.rate == Rate::control ? &control : nullptr;
    return s.audio(in) ? &audio : nullptr;
}

/// Those that tell the user of what they find stay the plugin's.
bool is_quiet(const Signature& s) {
    if (s.inputs.size() <= post || !s.inputs[post].constant)
        return false;
    const int32_t which = int_of(s.inputs[post].value);
    return which != 1 && which != 2;
}

constexpr NativeUgen list[] = {
    {"CheckBadValues", [](const Signature& s) { return is_quiet(s) ? choose<CheckBadValues>(s) : nullptr; }},
    {"Sanitize", choose<Sanitize>},
};

} // namespace

SCS_FAMILY(bad_values)

} // namespace scs::SCS_SIMD
