// SPDX-License-Identifier: GPL-3.0-or-later
// Servers of several hosts that play together: what is sent to all has one time tag, so it is heard at the same moment.
ServerGroup {
	var <servers;

	*initClass {
		Class.initClassTree(Event);
		// An event as \note, at each of ~targets: servers, groups, or a ServerGroup.
		Event.addEventType(\targets, {
			var event = currentEnvironment;
			~targets.do { |target|
				target = target.asTarget;
				event.copy.putPairs([\type, \note, \server, target.server, \group, target.nodeID]).play;
			};
		});
	}

	// `hosts`: "name", "name:port", NetAddrs or Servers.
	*new { |hosts, options, clientID, latency = 0.2|
		^super.new.init(hosts, options, clientID, latency)
	}

	init { |hosts, options, clientID, latency|
		servers = hosts.collect { |host|
			if(host.isKindOf(Server)) { host } { this.prRemote(host, options, clientID) }
		};
		this.latency = latency;
	}

	prRemote { |host, options, clientID|
		var addr = if(host.isKindOf(NetAddr)) { host } {
			var parts = host.asString.split($:);
			if(parts.size > 2 or: { parts[0].isEmpty } or: { parts.size == 2 and: { (1..65535).includes(parts[1].asInteger).not } }) {
				Error("expected a host, as in \"studio\" or \"studio:57111\": %".format(host)).throw
			};
			NetAddr(parts[0], (parts[1] ? 57110).asInteger)
		};
		^Server.remote("%:%".format(addr.hostname, addr.port).asSymbol, addr, options, clientID)
	}

	size { ^servers.size }
	at { |index| ^servers[index] }
	do { |function| servers.do(function) }
	collect { |function| ^servers.collect(function) }

	// Of all: time tags are the same only if these are.
	latency { ^servers[0].latency }
	latency_ { |seconds| servers.do { |server| server.latency = seconds } }

	serverRunning { ^servers.every(_.serverRunning) }

	// Calls the function when all run. What sclang does when a server doesn't, it does here.
	doWhenBooted { |onComplete, limit = 100, onFailure|
		var left = servers.size;
		servers.do { |server|
			server.doWhenBooted({
				left = left - 1;
				if(left == 0) { onComplete.value(this) };
			}, limit, onFailure);
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

	// Forgets the servers; they play on.
	remove {
		servers.do { |server|
			server.stopAliveThread;
			server.remove;
		};
		servers = [];
	}
}
