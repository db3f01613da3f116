// Package localdb finds or starts the Postgres and the Redis that the
// one-machine stack and the tests run on.
//
// A server that is named by URL is used as it is and nothing else is tried.
// Otherwise a private server is started on 127.0.0.1 from the binaries of this
// machine (Postgres 15 or newer, Redis or Valkey 7 or newer); a server that
// happens to listen on a default port is never adopted, it may hold someone's
// data. Private servers end with the process that started them, even when that
// process is killed.
//
// Durable servers keep fsync, synchronous_commit and full_page_writes on and
// their data on disk. Test servers switch all three off and live in memory when
// there is room.
//
// The package knows no schema and no domain word; production code does not
// import it.
package localdb
