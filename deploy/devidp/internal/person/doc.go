// Package person stores the people who can sign in at the development issuer, and their linked wallets. Every change is
// appended to a journal, which is read at the start.
package person
