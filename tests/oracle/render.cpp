// SPDX-License-Identifier: GPL-3.0-or-later
// Renders a score to a float WAV file, as scsynth -N does: render score out.wav rate channels [inputs]
// Inputs are a sound file; after its end they are silent.
// Prints what goes wrong on standard error; exits with 1 if there is no file.
#include "osc/offline.hpp"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sndfile.h>
#include <vector>

int main(int argc, char** argv) {
    if (argc != 5 && argc != 6) {
        std::fprintf(stderr, "usage: %s score out.wav rate channels [inputs]\n", argv[0]);
        return 2;
    }
    std::ifstream file(argv[1], std::ios::binary);
    const std::vector<char> score{std::istreambuf_iterator<char>(file), {}};

    scs::osc::ServerSettings settings;
    settings.engine.sample_rate = std::atof(argv[3]);
    settings.engine.outputs = std::atoi(argv[4]);
    SF_INFO in_info{};
    SNDFILE* in = argc == 6 ? sf_open(argv[5], SFM_READ, &in_info) : nullptr;
    if (argc == 6 && !in) {
        std::fprintf(stderr, "%s: %s\n", argv[5], sf_strerror(nullptr));
        return 1;
    }
    settings.engine.inputs = in_info.channels;
    settings.engine.wire_buffers = 512;
    settings.load_synthdefs = false;
    settings.log = [](auto, const std::string& text) { std::fprintf(stderr, "%s\n", text.c_str()); };

    SF_INFO info{};
    info.samplerate = std::atoi(argv[3]);
    info.channels = settings.engine.outputs;
    info.format = SF_FORMAT_WAV | SF_FORMAT_FLOAT;
    SNDFILE* out = sf_open(argv[2], SFM_WRITE, &info);
    if (!out) {
        std::fprintf(stderr, "%s: %s\n", argv[2], sf_strerror(nullptr));
        return 1;
    }
    sf_command(out, SFC_SET_ADD_PEAK_CHUNK, nullptr, SF_FALSE); // it has the time of writing in it
    std::vector<float> frames;
    const auto write = [&](const float* const* channels, int count) {
        frames.clear();
        for (int i = 0; i < count; ++i)
            for (int c = 0; c < info.channels; ++c)
                frames.push_back(channels[c][i]);
        return sf_writef_float(out, frames.data(), count) == count;
    };
    const auto read = [&](float* const* channels, int count) {
        frames.assign(std::size_t(count) * std::size_t(in_info.channels), 0.f);
        if (in)
            sf_readf_float(in, frames.data(), count);
        for (int i = 0; i < count; ++i)
            for (int c = 0; c < in_info.channels; ++c)
                channels[c][i] = frames[std::size_t(i * in_info.channels + c)];
    };
    const auto result = scs::osc::render_score(std::as_bytes(std::span(score)), settings, write, read);
    sf_close(out);
    if (in)
        sf_close(in);
    if (!result) {
        std::fprintf(stderr, "%s: %s\n", argv[1], result.error().c_str());
        return 1;
    }
    return 0;
}
