// Package server is the process of the simulator: its settings, its listener, the venues with their worlds, and the websockets.
//
// Start reading at Handler.
package server
