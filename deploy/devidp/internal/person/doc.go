// Package person stores the users of the development issuer and their linked wallets, in memory. Every change is appended to a
// journal file, which is read at the start.
package person
