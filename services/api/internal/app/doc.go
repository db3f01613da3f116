// Package app reads the configuration of the ledger, builds its parts and runs them. It is the only package that imports all
// others.
package app
