// Package server runs the venue simulator. It contains the settings, the listener, the venues with their worlds, and the
// websocket server. Start reading at Handler.
package server
