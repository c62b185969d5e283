// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <pipewire/properties.h>

#include <memory>

namespace scs::module {

struct FreeProperties {
    void operator()(pw_properties* properties) const { pw_properties_free(properties); }
};

using Properties = std::unique_ptr<pw_properties, FreeProperties>;

/// Sets `key` unless the user already gave it or `value` is null.
inline void set_default(const Properties& properties, const char* key, const char* value) {
    if (value && !pw_properties_get(properties.get(), key))
        pw_properties_set(properties.get(), key, value);
}

} // namespace scs::module
