// SPDX-License-Identifier: GPL-3.0-or-later
// The program that Server.pipewire sets, and the one that was set before.
PipeWireServer {
	classvar <>program = "pw-scsynth", former, withoutGroups;

	*initClass {
		withoutGroups = IdentityDictionary.new;
		Class.initClassTree(ServerBoot);
		ServerBoot.add({ |server|
			server.removeDependant(this);
			if(this.isUsed) { server.addDependant(this) };
		});
	}

	*isUsed {
		^Server.program.asString.contains(program)
	}

	// Whether a server is this one, or will be when it boots.
	*serves { |server|
		^if(server.serverRunning) { server.dependants.includes(this) } { this.isUsed }
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

	// The program outlives the PipeWire daemon. When that is back, so is the server, but a fresh one, without even a
	// default group. sclang itself would notice only the end of the program.
	*update { |server, what|
		if(what == \counts) {
			if(server.numGroups > 1) {
				withoutGroups[server] = 0;
			} {
				if(server.serverRunning) {
					withoutGroups[server] = (withoutGroups[server] ? 0) + 1;
					// The first count may be older than the groups of a server that has just booted.
					if(withoutGroups[server] == 2) { this.prAskWhetherFresh(server) };
				};
			};
		};
	}

	// A server that knows us answers with /fail.
	*prAskWhetherFresh { |server|
		var answer = OSCFunc({ this.prLogInAgain(server) }, '/done', server.addr, argTemplate: ['/notify', nil]).oneShot;
		server.sendMsg("/notify", 1, server.clientID);
		SystemClock.sched(3.0, { answer.free; nil });
	}

	// What sclang does when a server quits. The rest it does when the next status comes, as after booting.
	*prLogInAgain { |server|
		"Server '%' has come back with PipeWire; its nodes and buffers are gone.".format(server.name).postln;
		server.sendMsg("/notify", 0);
		server.statusWatcher.serverRunning = false;
		server.statusWatcher.notified = false;
		server.connectSharedMemory;
	}
}
