// Package testkit gives tests the real Postgres and the real Redis, golden
// files, a hand-set clock and polling instead of sleeping. Only tests import it.
//
// The first test of a process that asks starts one private server of each kind
// (TEST_DATABASE_URL and TEST_REDIS_URL name servers to use instead); every test
// then gets a database of its own, cloned from a migrated template, and a Redis
// database of its own, so tests may run in parallel. The servers end with the
// test process. A test never skips because a server is missing: it fails and
// says what to type.
//
// A package that uses the servers says so in its TestMain, which also fails on
// goroutines that are left over:
//
//	func TestMain(m *testing.M) { testkit.Main(m) }
package testkit
