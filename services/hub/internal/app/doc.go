// Package app reads the configuration of the hub, builds its parts and runs
// them. It is the only package that knows them all.
package app
