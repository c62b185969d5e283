// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Polynomials of the functions in math-double.hpp, lowest power first: through the Chebyshev nodes of their interval,
// found with 600 bits. The errors are those of the whole function with these coefficients, exactly evaluated, relative
// to it.

#include "engine/simd/lanes.hpp"

namespace scs::SCS_SIMD::detail {

/// For results in double.
struct Full {
    /// (sin(√z)/√z − 1)/z, z in [0, (π/4)²]. Degree 5, error 2.0e-17.
    static constexpr double sin[] = {-0x1.5555555555555p-3, 0x1.1111111110bb2p-7,   -0x1.a01a019e83816p-13,
                                     0x1.71de379654304p-19, -0x1.ae600aca92c64p-26, 0x1.5e0b05bff20f2p-33};
    /// (cos √z − 1 + z/2)/z², z in [0, (π/4)²]. Degree 5, error 1.3e-18.
    static constexpr double cos[] = {0x1.5555555555555p-5,   -0x1.6c16c16c16967p-10, 0x1.a01a019f4e9b4p-16,
                                     -0x1.27e4fa17bf139p-22, 0x1.1eeb68cd22f56p-29,  -0x1.907d8f29fe831p-37};
    /// (eʳ − 1 − r)/r², |r| ≤ ln 2/2; the error is that of eʳ − 1. Degree 9, error 4.1e-17.
    static constexpr double exp[] = {0x1.0000000000001p-1,  0x1.5555555555556p-3,  0x1.5555555553d63p-5,
                                     0x1.11111111109b3p-7,  0x1.6c16c1788bd90p-10, 0x1.a01a01a7c41d5p-13,
                                     0x1.a019b90d2ae7ap-16, 0x1.71de0dae63bb3p-19, 0x1.289185613a3d6p-22,
                                     0x1.af38a9b0ec855p-26};
    /// 2(artanh(√z)/√z − 1)/z, z in [0, 0.02944]. Degree 7, error 5.3e-19.
    static constexpr double log[] = {0x1.5555555555555p-1, 0x1.9999999999a38p-2, 0x1.2492492476c87p-2,
                                     0x1.c71c720160b47p-3, 0x1.745cf901605f7p-3, 0x1.3b1c360763b8ap-3,
                                     0x1.0fbe83c2cbcf3p-3, 0x1.0c04595972ab8p-3};
    /// (atan(√z)/√z − 1)/z, z in [0, tan²(π/8)]. Degree 10, error 7.7e-18.
    static constexpr double atan[] = {-0x1.5555555555555p-2, 0x1.999999999934ap-3,  -0x1.24924924360cbp-3,
                                      0x1.c71c7185314cbp-4,  -0x1.745d0b26b83e7p-4, 0x1.3b1262d95579ep-4,
                                      -0x1.10fa75382537fp-4, 0x1.dfe61e80903d2p-5,  -0x1.a098bb6ba4941p-5,
                                      0x1.41603647c7a7cp-5,  -0x1.3a2b7a07caea9p-6};
    /// (asin(√z)/√z − 1)/z, z in [0, 1/4]. Degree 12, error 5.1e-18.
    static constexpr double asin[] = {
        0x1.5555555555556p-3, 0x1.3333333332ecap-4,  0x1.6db6db6e31f13p-5, 0x1.f1c71c1db0623p-6, 0x1.6e8bb1c8209a2p-6,
        0x1.1c4d35cf95421p-6, 0x1.c9cf07674736ap-7,  0x1.782651caa6547p-7, 0x1.52420b04b37bep-7, 0x1.65a9c4dfcf8b2p-8,
        0x1.1d189408314eep-6, -0x1.e6aaa8a0a04ccp-7, 0x1.d72b2bc8155f8p-6};
};

/// For results rounded to float.
struct Short {
    /// (sin(√z)/√z − 1)/z, z in [0, (π/4)²]. Degree 3, error 1.9e-11.
    static constexpr double sin[] = {-0x1.555555545df18p-3, 0x1.11110deef0ae3p-7, -0x1.a013a740c35cep-13,
                                     0x1.6dbded5452c9bp-19};
    /// (cos √z − 1 + z/2)/z², z in [0, (π/4)²]. Degree 3, error 1.3e-12.
    static constexpr double cos[] = {0x1.5555555502c6dp-5, -0x1.6c16bf54be1f5p-10, 0x1.a015c4462d9e2p-16,
                                     -0x1.25243c2f39550p-22};
    /// (eʳ − 1 − r)/r², |r| ≤ ln 2/2; the error is that of eʳ − 1. Degree 5, error 5.3e-10.
    static constexpr double exp[] = {0x1.0000000b9129bp-1, 0x1.5555555a78ed4p-3,  0x1.5554e9063586ep-5,
                                     0x1.1110e0f238322p-7, 0x1.6d43246b523b4p-10, 0x1.a124f19fe89acp-13};
    /// 2(artanh(√z)/√z − 1)/z, z in [0, 0.02944]. Degree 3, error 1.7e-11.
    static constexpr double log[] = {0x1.5555554bb1b2fp-1, 0x1.9999eb63e783dp-2, 0x1.245c40aecb50cp-2,
                                     0x1.ddcf7101b6371p-3};
    /// (atan(√z)/√z − 1)/z, z in [0, tan²(π/8)]. Degree 4, error 2.5e-9.
    static constexpr double atan[] = {-0x1.555554471c837p-2, 0x1.9997309f05b1ap-3, -0x1.24202d48482b1p-3,
                                      0x1.b80f870f131a5p-4, -0x1.08432cf780520p-4};
    /// (asin(√z)/√z − 1)/z, z in [0, 1/4]. Degree 5, error 1.0e-9.
    static constexpr double asin[] = {0x1.555554e435732p-3, 0x1.333430fcff28ep-4, 0x1.6d5bb95f8e653p-5,
                                      0x1.fd8da2554dd34p-6, 0x1.18f91e79712c6p-6, 0x1.13fed3dd245c1p-5};
};

} // namespace scs::SCS_SIMD::detail
