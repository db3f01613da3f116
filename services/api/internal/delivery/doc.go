// Package delivery sends the feed to webhooks.
//
// One Worker of all replicas, the one with the lease, follows the feed for every active webhook. It stores a delivery before it
// sends it, and its success in the statement that moves the cursor. A worker that ends in between repeats the delivery and loses
// nothing. A Sender makes the requests, to public addresses only, and follows no redirect.
package delivery
