// SPDX-License-Identifier: GPL-3.0-or-later
// What sclang has of this asks CoreAudio or PortAudio, and fails on Linux.
+ ServerOptions {
	*devices {
		^this.inDevices.addAll(this.outDevices).asSet.asArray.sort
	}

	*inDevices {
		^PipeWireServer.devices("source")
	}

	*outDevices {
		^PipeWireServer.devices("sink")
	}
}
