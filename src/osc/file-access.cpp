// SPDX-License-Identifier: GPL-3.0-or-later
#include "osc/file-access.hpp"

#include <algorithm>
#include <filesystem>

namespace scs::osc {

Result<std::string> allowed_path(std::string_view path, const std::string& restricted) {
    namespace fs = std::filesystem;
    if (restricted.empty())
        return std::string(path);
    std::error_code error;
    const fs::path base = fs::canonical(restricted, error);
    if (error)
        return Error{"access denied"};
    const fs::path real = fs::weakly_canonical(base / path, error);
    if (error)
        return Error{"access denied"};
    const auto [in_base, in_real] = std::mismatch(base.begin(), base.end(), real.begin(), real.end());
    if (in_base != base.end())
        return Error{"access denied"};
    return real.string();
}

} // namespace scs::osc
