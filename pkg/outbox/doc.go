// Package outbox implements the transactional outbox pattern: a service stores events in its database and sends them to another
// service, at least once and in order.
//
// A service inserts an event into the table outbox of its schema, in the same transaction as the change that the event reports.
// One replica sends the stored events and deletes those that were sent. The receiver detects duplicates by the id of the event.
package outbox
