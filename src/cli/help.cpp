// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/command-line.hpp"

namespace scs::cli {

const char* const help_text = R"(usage: pw-scsynth -u PORT [OPTION ...]
       pw-scsynth -N SCORE INPUT OUTPUT RATE HEADER SAMPLE [OPTION ...]

Makes a SuperCollider server in the running PipeWire daemon and stays until /quit, Ctrl-C or SIGTERM.
With -N it renders a score to a sound file, without PipeWire.

  -u PORT     UDP port; 0: any free one          -t PORT     the same, TCP and UDP
  -B ADDRESS  to listen on (127.0.0.1)           -p WORD     password of TCP clients
  -l N        clients at once (64)               -D 0|1      load SynthDefs at the start (1)
  -i N        audio inputs (8)                   -o N        audio outputs (8)
  -a N        audio buses (1024)                 -c N        control buses (16384)
  -b N        sample buffers (1024)              -n N        nodes (1024)
  -d N        SynthDefs (1024)                   -w N        wire buffers (64)
  -r N        random generators (64)             -m KIB      real-time memory (8192)
  -z FRAMES   block size (64)                    -V N        verbosity (0)
  -Z FRAMES   quantum to ask PipeWire for        -S HZ       sample rate (the graph's)
  -H SINK:SOURCE, -H DEVICE, -H SOURCE SINK      devices to link to, by name or description
  -U PATHS    folders of UGen plugins            -P PATH     file commands stay below it
  -N SCORE INPUT OUTPUT RATE HEADER SAMPLE       "_" as SCORE: standard input; as INPUT: none
  --take-over  replace the node of ours that has the port
  --set KEY=VALUE  any setting of the node, as in its configuration without "scsynth."
  --client     run the server in this process instead of the daemon's
  -h, --help   this text                         -v, --version

Without effect: -C -I -L -O -R -T -s. "man pw-scsynth" says why, and more.
)";

} // namespace scs::cli
