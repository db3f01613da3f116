// Package career is the arithmetic of a replay: questions with known answers,
// operators of known skill who call them, and what the protocol's own text says
// must come of it.
//
// Nothing here is shared with the services. The rules are written down a second
// time, from the contract, so that a mistake in one of the two shows. Everything
// is a function of its input and a seed; there is no I/O.
package career
