// Package program decides what is on the air and what comes next.
//
// It holds the slot arithmetic, the programme lanes, FilterSpec and presets,
// the choice of markets for a lane, the planner of the stored rundown and the
// building of a Program. Service keeps built programmes in memory and answers
// every read from there; Keeper keeps the stored rundown filled.
//
// The package does no I/O and reads no clock: stored slots come through Store,
// markets through Copies, time through a function. It knows no transport, no
// database and no wire format except the JSON text of a FilterSpec, which is
// part of the protocol itself.
package program
