// Package app reads the configuration of the hub, builds the hub's services and connections, and runs them.
package app
