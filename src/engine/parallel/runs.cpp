// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/parallel/runs.hpp"

#include <algorithm>

namespace scs {

size_t Runs::end_near(size_t begin, double work) const noexcept {
    const double wanted = double(work_[begin]) + std::max(work, 0.);
    const auto at = std::lower_bound(work_.begin() + ptrdiff_t(begin) + 1, work_.begin() + ptrdiff_t(count_), wanted);
    size_t before = size_t(at - work_.begin()), after = before;
    while (after < count_ && parts(after))
        ++after;
    do
        --before;
    while (before > begin && parts(before));
    if (before == begin)
        return after;
    return wanted - double(work_[before]) < double(work_[after]) - wanted ? before : after;
}

} // namespace scs
