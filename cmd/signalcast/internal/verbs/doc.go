// Package verbs holds the commands that ask a hub or an api: login, call, events,
// market, board, signal and receipt.
//
// Only login, call and events add send a key; the routes of the others are for
// everybody, and take none.
package verbs
