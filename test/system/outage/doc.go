// Package outage tests what the services answer while a dependency fails or hangs, under overload, and how soon they
// recover.
package outage
