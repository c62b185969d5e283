// SPDX-License-Identifier: GPL-3.0-or-later
+ Collection {
	writeDef { |file|
		var sized = this.any { |each| SynthRate.isIn(each) };
		file.putString("SCgf");
		file.putInt32(if(sized) { 3 } { 2 });
		file.putInt16(this.size);
		this.do { |each| if(sized) { each.writeSizedDef(file) } { each.writeDef(file) } };
	}
}

// sclang reads version 2 alone.
+ SynthDef {
	asSynthDesc { |libname = \global, keepDef = true|
		var bytes = SynthRate.without { this.asBytes };
		desc = SynthDescLib.getLib(libname ? \global).readDescFromDef(CollStream(bytes), keepDef, this, metadata);
		^desc
	}
}
