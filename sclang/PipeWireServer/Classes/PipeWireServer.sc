// SPDX-License-Identifier: GPL-3.0-or-later
// The programs that Server.pipewire sets, and those that were set before.
PipeWireServer {
	classvar <>program = "pw-scsynth", former, formerOfScore, formerInternal, withoutGroups;

	*initClass {
		withoutGroups = IdentityDictionary.new;
		Class.initClassTree(ServerBoot);
		Class.initClassTree(StartUp);
		Class.initClassTree(Server);
		if(this.always) { this.prReplaceInternal }; // the startup file may ask for it
		Class.initClassTree(AppClock);
		// After the startup file: a boot that it asks for starts the program a little later still. The clock comes to it
		// also where an error in that file ends the start.
		StartUp.add { this.prUseIfAlways };
		AppClock.sched(0, { this.prUseIfAlways; nil });
		ServerBoot.add({ |server|
			server.removeDependant(this);
			if(this.isUsed) { server.addDependant(this) };
		});
	}

	*isUsed {
		^Server.program.asString.contains(program)
	}

	// Whether sclang uses this server from its start on, without a line in the startup file.
	*always {
		^File.exists(this.prAlwaysFile)
	}

	*always_ { |flag|
		if(flag) {
			File.mkdir(Platform.userConfigDir);
			File.use(this.prAlwaysFile, "w") { |file| file.write("PipeWireServer.always = false removes this file.\n") };
			this.use;
		} {
			if(this.always) { File.delete(this.prAlwaysFile) };
		};
	}

	// It would run in sclang, as a client of JACK, and start a JACK server of its own where there is none.
	*prReplaceInternal {
		if(formerInternal.isNil) {
			formerInternal = Server.internal;
			Server.internal = Server.local;
		};
	}

	*prUseIfAlways {
		if(this.always and: { this.isUsed.not }) { this.use };
	}

	*prAlwaysFile {
		^Platform.userConfigDir +/+ "always-pw-scsynth"
	}

	// Whether a server is this one, or will be when it boots.
	*serves { |server|
		^if(server.serverRunning) { server.dependants.includes(this) } { this.isUsed }
	}

	*use { |takeOver = false, client = false, name|
		var command = "exec " ++ program;
		if(this.isUsed.not) { former = Server.program; formerOfScore = Score.program };
		this.prReplaceInternal;
		Score.program = command;
		if(takeOver) { command = command ++ " --take-over" };
		if(client) { command = command ++ " --client" };
		if(name.notNil) { command = command ++ " --set name=" ++ name.asString.shellQuote };
		// ServerOptions gives its threads only to a program that ends so.
		Server.program = command ++ " --options supernova";
	}

	*leave {
		if(this.isUsed and: { former.notNil }) {
			Server.program = former;
			if(formerInternal.notNil) { Server.internal = formerInternal; formerInternal = nil };
			if(Score.program.asString.contains(program)) { Score.program = formerOfScore };
		};
	}

	// The names of PipeWire's devices of a kind, "sink" or "source", as ServerOptions:device takes them. No server has to
	// run. Without PipeWire there are none, and the program says why.
	*devices { |kind|
		var lines = "% --devices".format(program).unixCmdGetStdOut.split($\n);
		^lines.collect { |line| line.split($\t) }
			.select { |fields| fields[0] == kind }
			.collect { |fields| fields[1] }
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
