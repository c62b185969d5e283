// SPDX-License-Identifier: GPL-3.0-or-later
// What keys, controllers, beats and synths do on the server, without the language in between.
PipeWireBinding {
	classvar all, count = 0;
	var <server, <id;

	*initClass {
		Class.initClassTree(ServerQuit);
		all = IdentityDictionary.new;
		ServerQuit.add { |server| all.removeAt(server) };
	}

	// Each key plays a synth.
	*keys { |defName, options, target, addAction = \addToHead|
		target = target.asTarget;
		^this.prNew(target.server, "/bind_keys",
			[defName.asDefName, Node.addActions[addAction], target.nodeID] ++ this.prOptions(options))
	}

	// A controller sets a control bus, or a control: [synth, \cutoff].
	*controller { |controller, destination, options|
		var of, to;
		if(destination.isKindOf(Bus)) {
			of = destination;
			to = [this.prBus(of)];
		} {
			of = destination[0];
			to = [of.nodeID, destination[1]];
		};
		^this.prNew(of.server, "/bind_controller", [controller] ++ to ++ this.prOptions(options))
	}

	// Each event of a source carries out a command, such as ["/n_set", 1000, \freq, "$1"].
	*command { |source, options, message, server|
		^this.prNew(server ? Server.default, "/bind_command", [source] ++ this.prOptions(options) ++ message)
	}

	// Four adjacent control buses get beat, tempo, playing and bar.
	*beat { |source, bus, options|
		if(bus.numChannels < 4) { Error("beats take four channels: %".format(bus)).throw };
		^this.prNew(bus.server, "/bind_beat", [source, this.prBus(bus)] ++ this.prOptions(options))
	}

	// Calls action.(controller, options) with what moved last, as *controller takes them. Not if nothing has moved.
	*learn { |action, server|
		var answer;
		server = server ? Server.default;
		answer = OSCFunc({ |msg|
			var kind, port, channel, number;
			#kind, port, channel, number = msg[1..];
			action.(
				switch(kind, \control, { number }, \touch, { \pressure }, \bend, { kind }, \program, { kind },
					{ (kind ++ number).asSymbol }),
				if([\axis, \button].includes(kind)) { [device: port] } { [port: port, channel: channel] }
			)
		}, '/bind_moved.reply', server.addr).oneShot;
		SystemClock.sched(2, { answer.free; nil });
		server.sendMsg("/bind_moved");
	}

	*freeAll { |server|
		all[server ? Server.default].copy.do(_.free);
	}

	// Without effect when the server has quit since.
	free {
		if(all[server].notNil and: { all[server].includes(this) }) {
			all[server].remove(this);
			server.sendMsg("/bind_free", id);
		}
	}

	// Servers may have several clients.
	*prNew { |server, command, message|
		var binding;
		count = count + 1;
		binding = super.newCopyArgs(server, (server.clientID + 1) * 2000000 + count);
		if(all[server].isNil) { all[server] = IdentitySet.new };
		all[server].add(binding);
		server.sendMsg(command, binding.id, *message);
		^binding
	}

	*prOptions { |options|
		^(options ? []).asOSCArgArray
	}

	*prBus { |bus|
		if(bus.rate != \control) { Error("% is no control bus".format(bus)).throw };
		^"c" ++ bus.index
	}
}
