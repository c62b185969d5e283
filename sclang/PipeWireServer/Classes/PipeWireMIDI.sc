// SPDX-License-Identifier: GPL-3.0-or-later
// Has MIDIFunc and MIDIdef hear what comes to a server's control inputs.
PipeWireMIDI {
	classvar funcs, bind;

	*initClass {
		funcs = IdentityDictionary.new;
		bind = { |server| server.sendMsg("/bind_midi", this.prID(server)) };
	}

	// Also after each later boot of the server.
	*start { |server|
		server = server ? Server.default;
		if(funcs[server].notNil) { ^this };
		funcs[server] = OSCFunc({ |msg| if(msg[1] == this.prID(server)) { this.prHand(msg) } }, '/midi', server.addr).permanent_(true);
		ServerBoot.add(bind, server);
		if(server.serverRunning) { bind.value(server) };
	}

	*stop { |server|
		server = server ? Server.default;
		if(funcs[server].isNil) { ^this };
		funcs.removeAt(server).free;
		ServerBoot.remove(bind, server);
		if(server.serverRunning) { server.sendMsg("/bind_free", this.prID(server)) };
	}

	// Each client has a binding of its own, and hears those of all.
	*prID { |server| ^1000000 + server.clientID }

	// The control input is the source's ID.
	*prHand { |msg|
		var kind, source, channel, number, value, seven;
		#kind, source, channel, number, value = msg[2..];
		seven = (value * 127).round.asInteger;
		switch(kind,
			\noteOn, { MIDIIn.doNoteOnAction(source, channel, number, seven.max(1)) }, // 0 would end the note
			\noteOff, { MIDIIn.doNoteOffAction(source, channel, number, seven) },
			\polytouch, { MIDIIn.doPolyTouchAction(source, channel, number, seven) },
			\control, { MIDIIn.doControlAction(source, channel, number, seven) },
			\program, { MIDIIn.doProgramAction(source, channel, number) },
			\touch, { MIDIIn.doTouchAction(source, channel, seven) },
			\bend, { MIDIIn.doBendAction(source, channel, (value * if(value < 0, 8192, 8191)).round.asInteger + 8192) }
		);
	}
}
