// Package delivery sends the events of the feed to webhooks.
//
// Of all replicas, only the process that holds the lease runs a Worker. It follows the feed for every active webhook. It stores
// a delivery before it sends it. Then it stores the success and the new cursor in one statement. If the worker stops before this
// statement, the next worker sends the delivery again, so no event is lost. A Sender sends the requests and follows no redirect.
// In production, it sends them only to public addresses.
package delivery
