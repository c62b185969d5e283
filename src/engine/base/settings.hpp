// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

namespace scs {

/// What an engine is made with; fixed for its life, except for the sample rate.
struct Settings {
    int inputs = 2;             ///< audio inputs, 0 … 128; they sit on the buses after the outputs
    int outputs = 2;            ///< audio outputs, 0 … 128; buses 0 … outputs - 1
    int audio_buses = 1024;     ///< all audio buses, inputs and outputs included
    int control_buses = 16384;  ///< control buses
    int buffers = 1024;         ///< sample buffers
    int max_nodes = 1024;       ///< nodes of the tree at once
    int max_synthdefs = 1024;   ///< SynthDefs held at once
    int rt_memory_kib = 8192;   ///< real-time pool, KiB
    int block_size = 64;        ///< frames of a control block
    int wire_buffers = 64;      ///< audio wires a SynthDef may need at once
    int random_seeds = 64;      ///< random generators
    int max_quantum = 8192;     ///< the longest cycle process() will be asked for, frames
    double sample_rate = 48000; ///< Hz, nominal
    bool real_time = true;      ///< false: offline, slow jobs run in place and nothing is notified
    int verbosity = 0;          ///< as scsynth's -v: negative is quieter
    bool native_ugens = true;   ///< our own kernels run in place of the plugins' units, where there are any
    bool batching = true;       ///< adjacent ones of one SynthDef are computed side by side
    std::string simd = "auto";  ///< instruction set of the kernels: auto (the widest), sse2, avx2, avx512
    std::string ugen_path;      ///< colon-separated folders of UGen plugins; empty: SuperCollider's own
};

} // namespace scs
