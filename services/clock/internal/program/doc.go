// Package program decides which markets air now and which air next.
//
// It contains the computation of slots, the programme lanes, FilterSpec and presets, the choice of markets for a lane, the plan
// of the stored rundown, and the construction of a Program. A rundown contains the planned slots of a channel. Service caches
// programmes in memory and serves every read from this cache. Planner fills the stored rundown. Publisher publishes the start of
// each segment. Surveyor measures airings, which are content segments that have started.
//
// The package does no I/O and does not read the system clock. Store provides the stored slots, Copies provides the markets, and a
// function provides the time. The package does not depend on a transport or a database.
package program
