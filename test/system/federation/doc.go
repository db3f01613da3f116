// Package federation checks two complete systems that are partner stations of each other. It also checks one system with
// partners that send false entries, do not respond, or send too much data.
package federation
