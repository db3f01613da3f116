// Package federation tests two complete systems that are partner stations of each other. It also tests partners that
// send false entries, do not respond, or send too much data.
package federation
