// Package server puts the development issuer together and runs it: settings,
// the guards that keep it out of production, and a listener that stops
// gracefully.
package server
