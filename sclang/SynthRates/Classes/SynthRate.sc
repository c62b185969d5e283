// SPDX-License-Identifier: GPL-3.0-or-later
// What a SynthDef asks for: a number, or the control that has it when a synth starts.
SynthRate {
	classvar plain = false;
	var <value, <controlIndex;

	*new { |value = 0|
		^super.new.initRate(value)
	}

	// SuperCollider's SynthDef has no place for them before 3.15. This set of its constants is looked at only for whether one
	// is there already, and goes with it; metadata would be written into a file beside it.
	*of { |synthDef|
		^synthDef.constantSet.detect { |each| each.isKindOf(this) }
	}

	*isIn { |synthDef|
		^plain.not and: { [Reblock, Resample].any { |each| each.of(synthDef).notNil } }
	}

	// What function returns, with SynthDefs as sclang itself reads them.
	*without { |function|
		^protect {
			plain = true;
			function.value
		} {
			plain = false;
		}
	}

	initRate { |argument|
		var synthDef = UGen.buildSynthDef;
		value = argument;
		if(argument.isNumber) {
			this.check(argument);
		} {
			controlIndex = this.indexOf(argument);
		};
		if(synthDef.notNil) { this.enter(synthDef) };
	}

	enter { |synthDef|
		if(this.class.of(synthDef).isNil) {
			synthDef.constantSet.add(this);
		} {
			"%: a SynthDef has only one; the first one counts".format(this.class).warn;
		};
	}

	// UGens are computed after the synth has its blocks and its rate.
	indexOf { |argument|
		var source = if(argument.isKindOf(OutputProxy)) { argument.source };
		if(source.isKindOf(Control) or: { source.isKindOf(AudioControl) }) {
			^source.specialIndex + argument.outputIndex
		};
		Error("%: a number or a control is wanted, not %".format(this.class, argument)).throw;
	}

	check { |number|
		if(number != 0 and: { (number < 1) or: { number.asInteger.isPowerOfTwo.not } or: { number.asInteger != number } }) {
			Error("%: % isn't a power of two".format(this.class, number)).throw;
		};
	}
}

// The block size of a SynthDef's synths, in frames; 0: the server's.
Reblock : SynthRate {
	blockSize { ^value }

	*writeDef { |stream, synthDef|
		var reblock = this.of(synthDef);
		stream.putInt32(if(reblock.isNil) { 0 } { if(reblock.controlIndex.isNil) { reblock.value.asInteger } { -1 } });
		stream.putInt32(reblock !? { reblock.controlIndex } ? -1);
	}
}

// How many times the server's sample rate a SynthDef's synths have; 0 and 1: the server's.
Resample : SynthRate {
	factor { ^value }

	*writeDef { |stream, synthDef|
		var resample = this.of(synthDef);
		stream.putFloat(if(resample.isNil) { 0.0 } { if(resample.controlIndex.isNil) { resample.value } { -1.0 } });
		stream.putInt32(resample !? { resample.controlIndex } ? -1);
	}
}

+ SynthDef {
	reblock { ^Reblock.of(this) }
	resample { ^Resample.of(this) }

	// As version 3 of the format has it: its size, all that version 2 has, and the blocks and the rate.
	writeSizedDef { |file|
		var stream = CollStream.on(Int8Array.new(256));
		this.writeDef(stream);
		Reblock.writeDef(stream, this);
		Resample.writeDef(stream, this);
		file.putInt32(stream.collection.size + 4);
		stream.collection.do { |byte| file.putInt8(byte) };
	}
}
