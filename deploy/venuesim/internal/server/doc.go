// Package server runs the simulator: settings, listener, the venues with their worlds, and the websockets.
//
// Start reading at Handler.
package server
