// SPDX-License-Identifier: GPL-3.0-or-later
#include "layout.hpp"

#include <spa/param/audio/raw.h>
#include <spa/param/audio/type-info.h>

#include <algorithm>
#include <strings.h>

namespace scs::spa {
namespace {

struct NamedLayout {
    const char* name;
    const char* channels;
};

/// In the order of WAV files, as in PipeWire's own tools; what is above the listener comes last, as in ffmpeg.
constexpr NamedLayout named_layouts[] = {
    {"mono", "MONO"},
    {"stereo", "FL FR"},
    {"2.1", "FL FR LFE"},
    {"3.0", "FL FR FC"},
    {"3.1", "FL FR FC LFE"},
    {"quad", "FL FR RL RR"},
    {"5.0", "FL FR FC RL RR"},
    {"5.1", "FL FR FC LFE RL RR"},
    {"6.1", "FL FR FC LFE RC SL SR"},
    {"7.0", "FL FR FC RL RR SL SR"},
    {"7.1", "FL FR FC LFE RL RR SL SR"},
    {"5.1.2", "FL FR FC LFE RL RR TFL TFR"},
    {"5.1.4", "FL FR FC LFE RL RR TFL TFR TRL TRR"},
    {"7.1.2", "FL FR FC LFE RL RR SL SR TFL TFR"},
    {"7.1.4", "FL FR FC LFE RL RR SL SR TFL TFR TRL TRR"},
};
constexpr const char* ambisonics = "ambisonics";

bool is_same(const std::string& a, const char* b) {
    return strcasecmp(a.c_str(), b) == 0;
}

const char* short_name(const spa_type_info& info) {
    return info.name + sizeof SPA_TYPE_INFO_AUDIO_CHANNEL_BASE - 1;
}

bool is_place(const spa_type_info& info) {
    return info.type > SPA_AUDIO_CHANNEL_NA && info.type < SPA_AUDIO_CHANNEL_AUX0;
}

std::optional<uint32_t> find_channel(const std::string& name) {
    for (const spa_type_info* each = spa_type_audio_channel; each->name; ++each)
        if (each->type > SPA_AUDIO_CHANNEL_NA && is_same(name, short_name(*each)))
            return each->type;
    return {};
}

std::vector<std::string> words_of(std::string_view text) {
    constexpr std::string_view separators = " \t\n,;[]\"";
    std::vector<std::string> words;
    for (size_t from = text.find_first_not_of(separators); from != text.npos;) {
        const size_t end = std::min(text.find_first_of(separators, from), text.size());
        words.emplace_back(text.substr(from, end - from));
        from = text.find_first_not_of(separators, end);
    }
    return words;
}

std::optional<std::vector<uint32_t>> read_channels(const std::vector<std::string>& names) {
    std::vector<uint32_t> channels;
    for (const std::string& name : names) {
        const std::optional<uint32_t> channel = find_channel(name);
        if (!channel || std::find(channels.begin(), channels.end(), *channel) != channels.end())
            return {};
        channels.push_back(*channel);
    }
    return channels;
}

} // namespace

std::optional<std::vector<uint32_t>> read_layout(std::string_view text) {
    const std::vector<std::string> words = words_of(text);
    if (words.size() != 1)
        return read_channels(words);
    for (const NamedLayout& each : named_layouts)
        if (is_same(words[0], each.name))
            return read_channels(words_of(each.channels));
    if (!is_same(words[0], ambisonics))
        return read_channels(words);
    std::vector<uint32_t> channels(most_aux);
    for (uint32_t i = 0; i < most_aux; ++i)
        channels[i] = SPA_AUDIO_CHANNEL_AUX0 + i;
    return channels;
}

std::string layout_choices() {
    std::string text;
    for (const NamedLayout& each : named_layouts)
        text += std::string(each.name) + ", ";
    text.append(ambisonics).append(", or a list of channels, each once, of");
    for (const spa_type_info* each = spa_type_audio_channel; each->name; ++each)
        if (is_place(*each))
            text += std::string(" ") + short_name(*each);
    return text + " AUX0 to AUX" + std::to_string(most_aux - 1);
}

std::vector<uint32_t> place_channels(const std::vector<uint32_t>& layout, uint32_t count) {
    std::vector<uint32_t> channels(layout.begin(), layout.begin() + ptrdiff_t(std::min<size_t>(layout.size(), count)));
    for (uint32_t aux = SPA_AUDIO_CHANNEL_AUX0 + uint32_t(channels.size()); channels.size() < count; ++aux)
        if (std::find(layout.begin(), layout.end(), aux) == layout.end())
            channels.push_back(aux);
    if (!layout.empty())
        return channels;
    if (count == 1) {
        channels[0] = SPA_AUDIO_CHANNEL_MONO;
    } else if (count > 1) {
        channels[0] = SPA_AUDIO_CHANNEL_FL;
        channels[1] = SPA_AUDIO_CHANNEL_FR;
    }
    return channels;
}

std::string channel_name(uint32_t channel) {
    for (const spa_type_info* each = spa_type_audio_channel; each->name; ++each)
        if (each->type == channel)
            return short_name(*each);
    return "AUX" + std::to_string(channel - SPA_AUDIO_CHANNEL_AUX0);
}

std::string channel_names(const std::vector<uint32_t>& channels) {
    std::string text;
    for (const uint32_t channel : channels) {
        text += text.empty() ? "" : " ";
        text += channel_name(channel);
    }
    return text;
}

} // namespace scs::spa
