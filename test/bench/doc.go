// Command bench measures the running product against the limits beside it: the
// same bytes served by nginx, one durable INSERT of pgbench, one raw UPDATE, a
// bare gRPC call. Each limit is measured in the same run, in turn with ours, so
// a number means the same on any machine.
//
// It starts its own stack on 127.0.0.1 with a durable Postgres on disk, fills the
// database, prints RATIO lines and writes bench.json. It ends only what it
// started and never judges a build: a missed target is printed, not failed.
package main
