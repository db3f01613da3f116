// Command bench measures the running product. In the same run it measures a limit for each value: nginx with the same bytes,
// one durable INSERT of pgbench, one raw UPDATE, or a bare gRPC call. Product and limit alternate, so that their ratio depends
// little on the machine. With -against it compares this tree with an older one.
//
// It starts systems with package test/system/stack on 127.0.0.1, with a durable Postgres on disk, and fills the database. It
// prints RATIO lines and writes bench.json. A missed target is printed and is not an error. Start reading at sections in
// main.go.
package main
