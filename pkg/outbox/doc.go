// Package outbox carries what one service has committed to another that has to
// know, at least once and in order.
//
// Who writes a fact puts a row into the table outbox of its own schema, in the same
// statement or transaction. One replica sends what waits and deletes what was taken;
// the receiver tells repeats by the fact's id.
package outbox
