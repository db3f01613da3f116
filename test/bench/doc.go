// Command bench measures the running product. In the same run it measures limits for comparison, for example nginx with the same
// bytes, one durable INSERT of pgbench, one raw UPDATE, or a bare gRPC call. Measurements of the product and of the limit
// alternate, so that the load of the machine changes their ratio little. With -against, the command compares this source tree
// with an older one.
//
// It starts systems on 127.0.0.1 with package test/system/stack, and fills their databases. Postgres is durable and stores its
// data on disk. The command prints RATIO lines and writes bench.json. A missed target is printed and is not an error. Start
// reading at sections in main.go.
package main
