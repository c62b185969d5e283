// SPDX-License-Identifier: GPL-3.0-or-later
// For the run of the test suite: nobody else's servers are killed, and the server under test stays it.
+ UnixPlatform {
    killAll { |names|
        "not killed: %".format(names).postln;
    }
}

+ Server {
    *scsynth { }
    *supernova { }
}
