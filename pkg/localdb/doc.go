// Package localdb finds or starts the Postgres and Redis servers of the local stack and of the tests. Production code
// does not import it.
//
// A server that is configured by URL is used as it is. Otherwise localdb starts a private server on 127.0.0.1 from
// the binaries of this machine (Postgres 15 or newer, Redis or Valkey 7 or newer). It never uses a server that
// listens on a default port, because that server may contain data of other programs. Private servers end with the
// process that started them, even if that process is killed.
//
// Durable servers enable fsync, synchronous_commit and full_page_writes and store their data on disk. Test servers
// disable all three and store their data in memory if there is enough space.
package localdb
