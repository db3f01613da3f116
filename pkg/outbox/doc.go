// Package outbox implements the transactional outbox pattern: it sends events that one service has committed to
// another service, at least once and in order.
//
// A service inserts an event into the table outbox of its schema in the transaction of the change. One replica sends
// the stored events and deletes those that were sent. The receiver detects duplicates by the id of the event.
package outbox
