// Package app reads the configuration of the hub, builds the hub's services and connections, and runs them. It is the
// only package that imports all other packages of the hub.
package app
