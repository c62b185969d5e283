// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/ugens/sine-tables.hpp"

namespace scs::SCS_SIMD {

float sine_table[table_size + 1];
float cosecant_table[table_size + 1];

void make_sine_tables() {
    static const bool made = [] {
        for (int i = 0; i <= table_size; ++i) {
            constexpr double step = 6.28318530717958647692 / table_size;
            sine_table[i] = float(sin(F64<1>(i * step))[0]);
            const int from_zero = i % (table_size / 2);
            if (from_zero > near_zero && from_zero < table_size / 2 - near_zero)
                cosecant_table[i] = float(1.0 / double(sine_table[i]));
        }
        return true;
    }();
    (void)made;
}

} // namespace scs::SCS_SIMD
