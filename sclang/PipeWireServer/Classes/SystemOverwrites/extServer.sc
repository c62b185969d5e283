// SPDX-License-Identifier: GPL-3.0-or-later
+ Server {
	*pipewire { |takeOver = false, client = false, name|
		PipeWireServer.use(takeOver, client, name);
	}

	// Both replace the one name by the other in Server.program, and "scsynth" is in "pw-scsynth", too.
	*scsynth {
		PipeWireServer.leave;
		this.program = this.program.replace("supernova", "scsynth");
	}

	*supernova {
		PipeWireServer.leave;
		this.program = this.program.replace("scsynth", "supernova");
	}
}

// Server.killAll calls this with the names of the other two.
+ LinuxPlatform {
	killAll { |names|
		super.killAll(if(names == "scsynth") { "scsynth pw-scsynth" } { names });
	}
}
