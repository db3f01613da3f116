// Package safedial provides an HTTP client for URLs that users configure, such as webhooks. It prevents requests to internal
// services (server-side request forgery).
//
// It checks the IP address of each connection after name resolution. A host name that later resolves to a private address is
// therefore rejected as well, before a packet is sent.
package safedial
