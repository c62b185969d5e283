// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <memory>
#include <string>

namespace scs::cli {

/// Writes to standard output what a server prints. It does so on a thread of its own: if nobody reads the output,
/// nothing else waits. [main]
class PrintRelay {
public:
    /// Listens in PipeWire's runtime directory. If it can't, path() is empty and the server prints to its log.
    PrintRelay();
    PrintRelay(const PrintRelay&) = delete;
    PrintRelay& operator=(const PrintRelay&) = delete;
    /// To be called when the server is gone. Waits, at most half a second, until all that it printed is written.
    ~PrintRelay();

    /// Where the server connects to (`scsynth.print-to`).
    std::string path() const;
    /// Whether the server has printed something, at the latest after that time.
    bool has_written(std::chrono::milliseconds time) const;

private:
    struct Shared;
    std::shared_ptr<Shared> shared_; ///< with the thread, which may outlive this; null if it doesn't listen
};

} // namespace scs::cli
