// SPDX-License-Identifier: GPL-3.0-or-later
// Servers of several hosts that play together: what is sent to all has one time tag, so it is heard at the same moment.
ServerGroup {
	var <servers, <latency;
	var own; // those of them that it made

	*initClass {
		Class.initClassTree(Event);
		// An event as \note, at each of ~targets: servers, groups and ServerGroups, in lists or alone.
		Event.addEventType(\targets, {
			var event = currentEnvironment;
			this.prEachTarget(~targets ? []) { |target|
				event.copy.putPairs([\type, \note, \server, target.server, \group, target.nodeID]).play;
			};
		});
	}

	*prEachTarget { |targets, function|
		if(targets.isKindOf(ServerGroup) or: { targets.isKindOf(Collection) }) {
			targets.do { |each| this.prEachTarget(each, function) };
		} {
			function.value(targets.asTarget);
		};
	}

	// `hosts`: "name", "name:port", NetAddrs or Servers, each server once.
	*new { |hosts, options, clientID, latency = 0.2|
		^super.new.init(hosts, options, clientID, latency)
	}

	init { |hosts, options, clientID, seconds|
		var addrs = hosts.collect { |host| this.prAddr(host) };
		addrs.do { |addr, i|
			// All would be sent to it twice.
			if(addrs.indexOfEqual(addr) < i) { Error("a server is there twice: %".format(hosts[i])).throw };
		};
		own = List[];
		servers = hosts.collect { |host, i|
			if(host.isKindOf(Server)) { host } {
				var server = this.prRemote(addrs[i], options, clientID);
				own.add(server);
				server
			}
		};
		this.latency = seconds;
	}

	prAddr { |host|
		var parts;
		if(host.isKindOf(Server)) { ^host.addr };
		if(host.isKindOf(NetAddr)) { ^host };
		parts = host.asString.split($:);
		if(parts.size > 2 or: { parts[0].isEmpty } or: { parts.size == 2 and: { this.prIsPort(parts[1]).not } }) {
			Error("expected a host, as in \"studio\" or \"studio:57111\": %".format(host)).throw
		};
		^NetAddr(parts[0], (parts[1] ? 57110).asInteger)
	}

	prRemote { |addr, options, clientID|
		^Server.remote("%:%".format(addr.hostname, addr.port).asSymbol, addr, options, clientID)
	}

	prIsPort { |text|
		^text.notEmpty and: { text.size <= 5 } and: { text.every(_.isDecDigit) } and: { text.asInteger.inclusivelyBetween(1, 65535) }
	}

	size { ^servers.size }
	at { |index| ^servers[index] }
	do { |function| servers.do(function) }
	collect { |function| ^servers.collect(function) }

	// Of all: time tags are the same only if these are.
	latency_ { |seconds|
		latency = seconds;
		servers.do { |server| server.latency = seconds };
	}

	serverRunning { ^servers.every(_.serverRunning) }

	// Calls the function when all run, however long that takes; at once if there are none.
	doWhenBooted { |onComplete|
		var left = servers.size;
		if(left == 0) { onComplete.value(this) };
		servers.do { |server|
			server.doWhenBooted {
				left = left - 1;
				if(left == 0) { onComplete.value(this) };
			};
		};
	}

	sendMsg { |... message| servers.do { |server| server.sendMsg(*message) } }

	// `time` in seconds from now, the thread's; nil: at once.
	sendBundle { |time ... messages| servers.do { |server| server.sendBundle(time, *messages) } }

	// Calls the function with each server, and sends what it makes. All bundles have one time tag.
	bind { |function|
		servers.do { |server| server.bind { function.value(server) } };
	}

	// Sends a SynthDef to each.
	add { |def| servers.do { |server| def.send(server) } }

	// In a Routine: returns when each has done all that was sent to it.
	sync {
		servers.do { |server| server.sync };
	}

	freeAll { servers.do { |server| server.freeAll } }

	// What each says of its load, in % of a cycle; nil where none has come.
	loads { ^servers.collect(_.avgCPU) }

	// The server with the lowest load, for the next note.
	leastLoaded {
		^servers.minItem { |server| server.avgCPU ? inf }
	}

	// For a terminal: all servers in one picture.
	topCommand {
		^"% top %".format(PipeWireServer.program,
			servers.collect { |server| "%:%".format(server.addr.hostname, server.addr.port) }.join(" "))
	}

	// Forgets the servers, which play on. Those that weren't made here stay as they are.
	remove {
		own.do { |server|
			server.stopAliveThread;
			server.remove;
		};
		own = List[];
		servers = [];
	}
}
