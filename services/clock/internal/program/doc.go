// Package program decides which markets air now and which air next.
//
// It contains the slot arithmetic, the programme lanes, FilterSpec and presets, the choice of markets for a lane, the plan of
// the stored rundown, and the construction of a Program. Service caches programmes in memory and answers every read from this
// cache. Planner fills the stored rundown. Publisher publishes the start of each segment. Surveyor measures airings.
//
// The package does no I/O and reads no clock. Store provides the stored slots, Copies provides the markets, and a function
// provides the time. The package does not depend on a transport or a database. The only encoding that it contains is the JSON
// text of a FilterSpec, because the protocol defines that text.
package program
