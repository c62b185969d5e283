// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/result.hpp"
#include "engine/control/key-binding.hpp"
#include "osc/arg-reader.hpp"

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace scs::osc {

inline constexpr size_t longest_control = 255; ///< a control's name, as in SynthDef files

/// Reads the options of a binding, pairs of a key and what follows it; the first mistake is told. [any but rt]
class BindingOptions {
public:
    explicit BindingOptions(ArgReader args) : args_(args) {}
    /// After the options comes a command, which begins with a slash; see rest().
    static BindingOptions before_command(ArgReader args) {
        BindingOptions options(args);
        options.before_command_ = true;
        return options;
    }

    /// Calls `option` with the key of each option, which reads what follows it, and returns whether there is such a
    /// key.
    template <class F>
    void each(F option) {
        while (mistake_.empty() && args_.tag() && !at_command()) {
            key_ = args_.at_string() ? args_.get_string() : std::string_view();
            if (key_.empty())
                fail("a name of an option is missing");
            else if (!args_.tag())
                fail("has no value");
            else if (!option(key_))
                fail("is no option here");
        }
    }
    /// The arguments that each() has left.
    std::span<const Arg> rest() const { return args_.rest(); }
    /// Empty: there was none.
    const std::string& mistake() const { return mistake_; }
    /// Of the option that is being read.
    void fail(const std::string& what);

    void read(int& to, int low, int high);
    void read(float& to);
    /// Beats. A float that is next to a fraction, as of a third, becomes that one.
    void read_beats(double& to, double low, double high);
    void read(std::string& to);
    /// One of the words, whose values count from 0.
    template <class Enum>
    void read(Enum& to, std::initializer_list<std::string_view> words) {
        to = Enum(read_word(words));
    }
    /// Reads the option if it is one of a source's, port or channel. false: it isn't.
    bool read_source(Source&, std::string_view key);
    /// The same of a device's source, device.
    bool read_device(Source&, std::string_view key);

private:
    int read_word(std::initializer_list<std::string_view> words);
    bool at_command() const;

    ArgReader args_;
    bool before_command_ = false;
    std::string_view key_;
    std::string mistake_;
};

/// [any but rt] Reads the options of /bind_keys. Returns what is wrong; empty if nothing is.
std::string read_key_options(ArgReader, KeySettings&);

/// [any but rt] The command that makes a binding and its arguments but for the ID, as Binding::words() has them:
/// brackets of arrays as words.
std::vector<BindingWord> words_of(std::string_view command, std::span<const Arg> args);

/// A binding that there is from the start.
struct StartBinding {
    KeySettings keys;
    std::vector<BindingWord> words; ///< of the /bind_keys that would make it
};

/// [any but rt] Reads the setting `bindings`: SynthDefs, each followed by options as of /bind_keys, with semicolons
/// between them. "default; bass channel 1 mode legato". The error says what is wrong with which.
Result<std::vector<StartBinding>> parse_bindings(std::string_view text);

} // namespace scs::osc
