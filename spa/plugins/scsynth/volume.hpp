// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <spa/pod/builder.h>

#include <cstdint>
#include <vector>

namespace scs::spa {

/// The volume and mute of a node's outputs, as mixers read and set them among its Props. [main]
///
/// Props have a volume for all channels and one for each. Mixers show and set only the latter, so the first is always 1
/// here, and setting it sets each channel's: otherwise it would be a factor that nobody sees and that session managers
/// restore.
class Volume {
public:
    static constexpr int highest = 10;

    /// `channels`: SPA's name of each output. `volume`: a factor, 0 … highest.
    Volume(std::vector<uint32_t> channels, float volume, bool mute);

    /// What output `index` is multiplied by.
    float gain(size_t index) const;
    const std::vector<uint32_t>& channels() const { return channels_; }

    /// Takes what these Props say of volume and mute, and leaves the rest as it is. A volume for all channels counts if
    /// there are no channel volumes; those of another number than ours count as their mean. Returns false, and changes
    /// nothing, if one is no number from 0 to highest.
    bool read(const spa_pod* props);
    /// Adds all of it to an object of Props that is under construction.
    void write(spa_pod_builder&) const;
    /// The PropInfo number `index`; null if there is no such number.
    static spa_pod* info(uint32_t index, spa_pod_builder&);

    bool operator==(const Volume&) const = default;

private:
    std::vector<uint32_t> channels_;
    bool mute_;
    std::vector<float> channel_volumes_;
};

} // namespace scs::spa
