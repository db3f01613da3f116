// Package app reads the configuration of the api service, builds its parts and runs them.
package app
