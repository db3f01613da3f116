// Package outage tests what the services answer while a dependency fails, does not respond or is overloaded, and how
// fast they recover.
package outage
