// Package safedial connects to addresses that strangers name.
//
// The check is made on the address that is about to be dialled, after every
// lookup, so that a name which changes its mind leads nowhere: what is not on the
// public internet is refused before a packet leaves.
package safedial
