// Package testkit provides Postgres and Redis servers, golden files, a clock that tests set, and polling for tests.
// Only tests import it.
//
// The first test of a process that needs a server starts a private one, unless TEST_DATABASE_URL or TEST_REDIS_URL
// names a server. Each test gets its own Postgres database, cloned from a migrated template, and its own Redis
// database, so tests may run in parallel. The servers end with the test process. If a server is missing, tests are
// not skipped: they fail with the command that installs it.
//
// A package that uses the servers has this TestMain, which also fails if goroutines are left at the end:
//
//	func TestMain(m *testing.M) { testkit.Main(m) }
package testkit
