// Package outage tests the responses of the services while a dependency fails, does not respond or is overloaded. It also tests
// how fast the services recover.
package outage
