package containers

import (
	"cmp"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/testcontainers/testcontainers-go"
	tcexec "github.com/testcontainers/testcontainers-go/exec"
	"github.com/testcontainers/testcontainers-go/wait"
)

// password is the password of the administrator of Postgres. The server exists for the time of a test only.
const password = "containers"

// Packages whose tests use Postgres or Redis by pkg/testkit. longPackage is left out with -short. pkg/pg is not among them: its
// tests give one role different passwords at the same time, which only servers without passwords allow.
var databasePackages = []string{"./pkg/ratelimit", "./services/hub/internal/postgres", "./services/clock/internal/postgres"}

const longPackage = "./services/api/internal/postgres"

// endToEnd selects tests of package test/system that share one system.
const endToEnd = "^(TestCallsAfterResolution|TestBoardsIncludeOnlyCountedCalls|TestUnratedMarketsDoNotCount)$"

// TestDatabasesInContainers runs the tests of databasePackages on a Postgres and a Redis in containers.
func TestDatabasesInContainers(t *testing.T) {
	s := start(t)
	packages := databasePackages
	if !testing.Short() {
		packages = append(slices.Clone(packages), longPackage)
	}
	s.goTest(t, packages...)
	if n := s.databases(t, "sc_template_"); n < 2 {
		t.Errorf("the container has %d template databases after the tests; want at least 2: the tests used another server", n)
	}
	s.requireRedisUsed(t)
}

// TestEndToEndInContainers runs the tests of endToEnd on a whole system whose Postgres and Redis are in containers.
func TestEndToEndInContainers(t *testing.T) {
	s := start(t)
	s.goTest(t, "-run", endToEnd, "./test/system")
	if n := s.databases(t, "sc_system_"); n != 1 {
		t.Errorf("the container has %d databases of systems after the tests; want 1", n)
	}
	s.requireRedisUsed(t)
}

// servers contains the containers of a test and their addresses.
type servers struct {
	postgres, redis testcontainers.Container
	env             []string
}

// start starts Postgres and Redis in containers until the test ends.
func start(t *testing.T) servers {
	t.Helper()
	if os.Getenv("TEST_BACKEND") != "containers" {
		t.Skip("the test needs a container engine; run: make container-test")
	}
	run := func(image, port string, opts ...testcontainers.ContainerCustomizer) (testcontainers.Container, string) {
		opts = append(opts, testcontainers.WithExposedPorts(port))
		c, err := testcontainers.Run(t.Context(), image, opts...)
		testcontainers.CleanupContainer(t, c)
		if err != nil {
			t.Fatalf("start %s: %v", image, err)
		}
		address, err := c.PortEndpoint(t.Context(), port, "")
		if err != nil {
			t.Fatal(err)
		}
		return c, address
	}
	var s servers
	var database, redis string
	// The tests need no durability.
	s.postgres, database = run(cmp.Or(os.Getenv("POSTGRES_IMAGE"), "postgres:17-bookworm"), "5432/tcp",
		testcontainers.WithEnv(map[string]string{"POSTGRES_PASSWORD": password, "PGPASSWORD": password}),
		testcontainers.WithCmd("postgres", "-c", "max_connections=500", "-c", "fsync=off", "-c", "synchronous_commit=off", "-c", "full_page_writes=off"),
		testcontainers.WithWaitStrategyAndDeadline(2*time.Minute,
			wait.ForListeningPort("5432/tcp"), wait.ForExec([]string{"pg_isready", "-q", "-h", "127.0.0.1", "-U", "postgres"})))
	// One database for each test that uses Redis at the same time.
	s.redis, redis = run(cmp.Or(os.Getenv("REDIS_IMAGE"), "redis:7.2-bookworm"), "6379/tcp",
		testcontainers.WithCmd("redis-server", "--save", "", "--databases", "1024", "--protected-mode", "no"),
		testcontainers.WithWaitStrategyAndDeadline(time.Minute, wait.ForListeningPort("6379/tcp"), wait.ForExec([]string{"redis-cli", "ping"})))
	s.env = []string{
		"TEST_DATABASE_URL=postgres://postgres:" + password + "@" + database + "/postgres?sslmode=disable",
		"TEST_REDIS_URL=redis://" + redis + "/0", "GOWORK=",
	}
	return s
}

// goTest runs `go test` in the root of the repository with the addresses of the containers. Packages run one after another,
// because they use the same databases of Redis.
func (s servers) goTest(t *testing.T, args ...string) {
	t.Helper()
	began := time.Now()
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"test", "-count=1", "-vet=off", "-p=1", "-timeout=15m"}, args...)...)
	cmd.Dir, cmd.Env = "../..", append(os.Environ(), s.env...)
	out, err := cmd.CombinedOutput()
	t.Logf("%s\nafter %v", out, time.Since(began).Round(time.Second))
	if err != nil {
		t.Errorf("go test %s: %v", strings.Join(args, " "), err)
	}
}

// databases returns the number of databases in the container whose name has the prefix.
func (s servers) databases(t *testing.T, prefix string) int {
	t.Helper()
	out := s.output(t, s.postgres, "psql", "-h", "127.0.0.1", "-U", "postgres", "-tAc", "SELECT count(*) FROM pg_database WHERE datname LIKE '"+prefix+"%'")
	n, err := strconv.Atoi(strings.TrimSpace(out))
	if err != nil {
		t.Fatalf("psql printed %q; want a number", out)
	}
	return n
}

func (s servers) output(t *testing.T, c testcontainers.Container, command ...string) string {
	t.Helper()
	code, out, err := c.Exec(t.Context(), command, tcexec.Multiplexed())
	if err != nil {
		t.Fatal(err)
	}
	raw, err := io.ReadAll(out)
	if err != nil || code != 0 {
		t.Fatalf("%v: exit code %d, %v\n%s", command, code, err, raw)
	}
	return string(raw)
}

// requireRedisUsed requires that the tests sent commands to the container of Redis.
func (s servers) requireRedisUsed(t *testing.T) {
	t.Helper()
	out := s.output(t, s.redis, "redis-cli", "info", "stats")
	_, text, _ := strings.Cut(out, "total_commands_processed:")
	text, _, _ = strings.Cut(text, "\r")
	if n, err := strconv.Atoi(text); err != nil || n < 50 {
		t.Errorf("Redis has processed %q commands after the tests; want at least 50", text)
	}
}
