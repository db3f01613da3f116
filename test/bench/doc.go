// Command bench measures the running product and, in the same run, a limit for each measurement: nginx with the same bytes, one
// durable INSERT of pgbench, one raw UPDATE, a bare gRPC call. Product and limit alternate, so their ratio depends little on
// the machine. With -against it compares this tree with an older one.
//
// It starts systems of the harness test/system/stack on 127.0.0.1 with a durable Postgres on disk, fills the database, prints
// RATIO lines and writes bench.json. A missed target is printed and is no error. Start reading at sections in main.go.
package main
