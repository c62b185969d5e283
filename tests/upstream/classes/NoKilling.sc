// SPDX-License-Identifier: GPL-3.0-or-later
// Server.killAll ends every scsynth of the machine; here it ends none: run.py ends what it started.
+ UnixPlatform {
    killAll { |name|
        "not killed: %".format(name).postln;
    }
}
