// Package person keeps the people whom the development issuer knows and the
// wallets linked to them. Everything is appended to one journal, so a restart
// forgets nobody.
package person
