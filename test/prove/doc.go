// Command prove runs the promises against the real thing: two hubs, one api, one
// clock, a venue simulator and an issuer over a durable Postgres and a real Redis.
//
//	go run ./test/prove [--only A1,C4] [--seed N] [ROW…]     one line for each promise, and prove.json
//	go run ./test/prove teeth [--only A1,C4] [ROW…]          plant each row's fault and see it turn red
//
// FULL=1 runs the sizes of the table instead of those of every change. It ends
// with 1 when a promise is broken or a fault is not caught.
package main
