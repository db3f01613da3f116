// Package outage checks the responses of the services while a dependency fails, does not respond or is overloaded. It also
// checks how fast the services recover.
package outage
