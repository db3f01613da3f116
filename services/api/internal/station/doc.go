// Package station is the register of partner stations: who runs one, where its rows
// are read and whether they are. A station speaks for one address, and no two active
// ones for the same; what an admin has approved is approved anew when it moves.
package station
