// Package server puts the simulator together: configuration, worlds, venues,
// control routes, and a listener that stops gracefully.
package server
