package localdb

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"github.com/signalcast/signalcast/pkg/dbtime"
)

const launcherEnv = "LOCALDB_TEST_LAUNCHER"

func TestMain(m *testing.M) {
	if dir := os.Getenv(launcherEnv); dir != "" {
		launchAndWait(dir)
		return
	}
	goleak.VerifyTestMain(m)
}

// launchAndWait is the main function of the process that TestServersEndWithTheirLauncher kills.
func launchAndWait(dir string) {
	ctx := context.Background()
	pg, err := StartPostgres(ctx, PostgresConfig{Dir: dir, Durable: true})
	if err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	r, err := StartRedis(ctx, RedisConfig{})
	if err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	fmt.Println(pg.PID(), r.PID())
	select {}
}

func startPostgres(t *testing.T, cfg PostgresConfig) *Postgres {
	t.Helper()
	pg, err := StartPostgres(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pg.Stop(context.Background()) })
	return pg
}

func startRedis(t *testing.T, cfg RedisConfig) *Redis {
	t.Helper()
	r, err := StartRedis(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Stop(context.Background()) })
	return r
}

func query(t *testing.T, url, sql string) string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	var out string
	if err := conn.QueryRow(t.Context(), sql).Scan(&out); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return out
}

func hasEnded(pid int) bool { return startTime(pid) == "" || state(pid) == "Z" }

func state(pid int) string {
	if f := statFields(pid); len(f) > 0 {
		return string(f[0])
	}
	return ""
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for !ok() {
		if dbtime.Sleep(ctx, 5*time.Millisecond) != nil {
			t.Fatalf("condition not met within 10 s: %s", what)
		}
	}
}

func TestDurableSettings(t *testing.T) {
	for _, durable := range []bool{false, true} {
		t.Run(fmt.Sprint("durable=", durable), func(t *testing.T) {
			t.Parallel()
			cfg := PostgresConfig{Durable: durable, Settings: map[string]string{"work_mem": "7MB"}}
			if durable {
				cfg.Dir, cfg.Preload = filepath.Join(t.TempDir(), "pg"), []string{"pg_stat_statements"}
			}
			pg := startPostgres(t, cfg)
			want := map[bool]string{true: "on", false: "off"}[durable]
			for _, name := range []string{"fsync", "synchronous_commit", "full_page_writes"} {
				if got := query(t, pg.URL(), "SHOW "+name); got != want {
					t.Errorf("%s is %s, want %s", name, got, want)
				}
			}
			if got := query(t, pg.URL(), "SHOW work_mem"); got != "7MB" {
				t.Errorf("work_mem is %s, want 7MB", got)
			}
			if durable {
				if got := query(t, pg.URL(), "SHOW shared_preload_libraries"); got != "pg_stat_statements" {
					t.Errorf("preloaded libraries %q, want pg_stat_statements", got)
				}
				if inMemory(query(t, pg.URL(), "SHOW data_directory")) {
					t.Error("the data of a durable server is in memory")
				}
			}
			if got := query(t, pg.URL(), "SHOW listen_addresses"); got != "127.0.0.1" {
				t.Errorf("the server listens on %s, want 127.0.0.1", got)
			}
		})
	}
}

func TestEveryIdentityRunsPostgres(t *testing.T) {
	found, rejected := installed(t.Context())
	if len(found) == 0 {
		t.Fatalf("no Postgres is installed (%v); to install it, run: %s", rejected, hintPostgres())
	}
	for _, as := range identities() {
		t.Run(as.name, func(t *testing.T) {
			dir, err := tempDir(false)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = os.RemoveAll(dir) })
			if as.name == "a user namespace" {
				// This identity must be able to use a directory that only root may enter.
				if err := os.Chmod(dir, 0o700); err != nil {
					t.Fatal(err)
				}
			}
			data := filepath.Join(dir, "data")
			if err := initdb(t.Context(), found[0], as, data, false); err != nil {
				t.Fatal(err)
			}
			pg := startPostgres(t, PostgresConfig{Dir: dir})
			if got := query(t, pg.URL(), "SELECT current_user::text"); got != superuser {
				t.Fatalf("connected as %s, want %s", got, superuser)
			}
		})
	}
}

func TestServersEndWithTheirLauncher(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "pg")
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), launcherEnv+"="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || strings.HasPrefix(line, "error") {
		t.Fatalf("launcher: output %q, error %v", line, err)
	}
	var pids []int
	for _, f := range strings.Fields(line) {
		pid, err := strconv.Atoi(f)
		if err != nil {
			t.Fatal(err)
		}
		pids = append(pids, pid)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	eventually(t, "the servers of a killed launcher have ended", func() bool { return hasEnded(pids[0]) && hasEnded(pids[1]) })

	// The next launcher can use the cluster at once.
	startPostgres(t, PostgresConfig{Dir: dir, Durable: true})
}

func TestGuardedChildEndsWithThePipe(t *testing.T) {
	cmd := exec.Command("sleep", "600")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c, hold, err := startGuarded(cmd, syscall.SIGTERM)
	if err != nil {
		t.Fatal(err)
	}
	_ = hold.Close()
	<-c.Done()
	if !hasEnded(c.PID()) {
		t.Fatal("the child did not end when the pipe was closed")
	}
}

func TestConfiguredServerIsUsedOrRejected(t *testing.T) {
	pg := startPostgres(t, PostgresConfig{})
	named := startPostgres(t, PostgresConfig{URL: pg.URL()})
	if named.PID() != 0 || !named.External() || named.URL() != pg.URL() {
		t.Fatal("a server configured by URL was not used as it is")
	}
	named.Stop(t.Context())
	if got := query(t, pg.URL(), "SELECT 'up'::text"); got != "up" {
		t.Fatalf("the configured server returned %q after Stop", got)
	}
	pg.Stop(t.Context())
	if _, err := StartPostgres(t.Context(), PostgresConfig{URL: pg.URL()}); err == nil {
		t.Fatal("StartPostgres used another server than the configured one")
	}
	if _, err := StartRedis(t.Context(), RedisConfig{URL: "redis://127.0.0.1:1/0", InProcess: true}); err == nil {
		t.Fatal("StartRedis used another server than the configured one")
	}
}

func TestEnsureDatabaseTwice(t *testing.T) {
	pg := startPostgres(t, PostgresConfig{})
	for range 2 {
		url, err := EnsureDatabase(t.Context(), pg.URL(), "signalcast")
		if err != nil {
			t.Fatal(err)
		}
		if got := query(t, url, "SELECT current_database()::text"); got != "signalcast" {
			t.Fatalf("connected to database %s", got)
		}
	}
}

func TestRedisRestartsEmptyOnItsPort(t *testing.T) {
	r := startRedis(t, RedisConfig{Databases: 300})
	opt, err := redis.ParseURL(strings.TrimSuffix(r.URL(), "0") + "299")
	if err != nil {
		t.Fatal(err)
	}
	client := redis.NewClient(opt)
	defer func() { _ = client.Close() }()
	if err := client.Set(t.Context(), "k", "v", 0).Err(); err != nil {
		t.Fatal(err)
	}
	_ = syscall.Kill(r.PID(), syscall.SIGKILL)
	<-r.Done()
	if err := r.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n, err := client.Exists(t.Context(), "k").Result(); err != nil || n != 0 {
		t.Fatalf("%d keys after the restart, error %v; want 0", n, err)
	}
}

func TestInProcessRedisIsUsedWhenNoneIsInstalled(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if _, err := StartRedis(t.Context(), RedisConfig{}); err == nil || !strings.Contains(err.Error(), hintRedis()) {
		t.Fatalf("error %v, want the command that installs Redis", err)
	}
	var logged []string
	r := startRedis(t, RedisConfig{InProcess: true, Log: func(line string) { logged = append(logged, line) }})
	if len(logged) != 1 || !strings.HasPrefix(logged[0], "warning: ") {
		t.Fatalf("logged %q, want one warning", logged)
	}
	opt, err := redis.ParseURL(r.URL())
	if err != nil {
		t.Fatal(err)
	}
	client := redis.NewClient(opt)
	defer func() { _ = client.Close() }()
	if err := client.Set(t.Context(), "k", "v", 20*time.Millisecond).Err(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the key expires in the in-process Redis", func() bool { return client.Exists(t.Context(), "k").Val() == 0 })
}

func TestOnlyOrphanedDirectoriesAreRemoved(t *testing.T) {
	base := t.TempDir()
	dirs := map[string]string{
		"live":  fmt.Sprintf("%d %s", os.Getpid(), startTime(os.Getpid())),
		"dead":  "999999999 1",
		"other": fmt.Sprintf("%d %s", os.Getpid(), "1"), // the process id was reused
	}
	for name, owner := range dirs {
		dir := filepath.Join(base, tempPrefix+name)
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, ownerFile), []byte(owner), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(base, tempPrefix+"unsigned"), 0o755); err != nil {
		t.Fatal(err)
	}
	removeOrphans(base)
	for name, want := range map[string]bool{"live": true, "unsigned": true, "dead": false, "other": false} {
		if got := exists(filepath.Join(base, tempPrefix+name)); got != want {
			t.Errorf("directory %s exists: %v, want %v", name, got, want)
		}
	}
}

func TestOldPostgresIsRejected(t *testing.T) {
	dir := t.TempDir()
	for _, tool := range []string{"initdb", "postgres"} {
		script := "#!/bin/sh\necho \"" + tool + " (PostgreSQL) 14.9\"\n"
		if err := os.WriteFile(filepath.Join(dir, tool), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PG_BIN", dir)
	found, rejected := installed(t.Context())
	if len(found) != 0 || len(rejected) != 1 || !strings.Contains(rejected[0], "at least 15") {
		t.Fatalf("found %v, rejected %v; want only a rejection", found, rejected)
	}
}

func TestFreePortStaysBelowTheOutgoingRange(t *testing.T) {
	port, err := FreePort()
	if err != nil {
		t.Fatal(err)
	}
	if port < lowestPort || port >= ephemeralFloor() || !PortFree(port) {
		t.Fatalf("FreePort returned %d", port)
	}
}
