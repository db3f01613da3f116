// Package hook sends the feed to webhooks.
//
// One Worker of all replicas, the one that holds the lease, follows the feed for
// every active webhook. The database is told of a delivery before it is sent and of
// its success in the statement that moves the cursor, so that a worker which dies
// in between repeats the delivery and loses nothing. A Sender makes the requests: to
// public addresses alone, following no redirect.
package hook
