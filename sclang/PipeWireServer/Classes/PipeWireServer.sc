// SPDX-License-Identifier: GPL-3.0-or-later
// The program that Server.pipewire sets, and the one that was set before.
PipeWireServer {
	classvar <>program = "pw-scsynth", former;

	*isUsed {
		^Server.program.asString.contains(program)
	}

	*use { |takeOver = false, client = false|
		if(this.isUsed.not) { former = Server.program };
		Server.program = "exec " ++ program;
		if(takeOver) { Server.program = Server.program ++ " --take-over" };
		if(client) { Server.program = Server.program ++ " --client" };
	}

	*leave {
		if(this.isUsed and: { former.notNil }) { Server.program = former };
	}
}
