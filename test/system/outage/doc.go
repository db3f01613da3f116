// Package outage tests the answers of the services while a dependency fails, does not respond or is overloaded, and how fast
// the services recover.
package outage
