// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/descriptors.hpp"
#include "engine/base/result.hpp"

#include <string>
#include <string_view>

namespace scs::trace {

/// A file that is opened before there is anything to write, so that one learns at once whether it can be written. Until
/// the first write() its contents stay; one that wasn't there before is gone again then.
class OutputFile {
public:
    static Result<OutputFile> open(const std::string& path);
    OutputFile(OutputFile&&) = default;
    ~OutputFile();

    /// False: errno says why not.
    bool write(std::string_view text);
    /// Whether all of it is in the file. Nothing may be written afterwards.
    bool finish();

private:
    OutputFile(Descriptor fd, std::string path, bool made) : fd_(std::move(fd)), path_(std::move(path)), made_(made) {}

    Descriptor fd_;
    std::string path_;
    bool made_;            ///< it wasn't there before
    bool started_ = false; ///< to be written
};

} // namespace scs::trace
