// Package delivery sends the events of the feed to webhooks.
//
// Of all replicas, only the process that holds the lease runs a Worker. It follows the feed for every active webhook. It stores
// a delivery before it sends it, and stores its success and the new cursor in one statement. If a worker stops between the two,
// the delivery is sent again and no event is lost. A Sender sends the requests, only to public addresses, and follows no
// redirect.
package delivery
