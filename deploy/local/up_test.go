package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/signalcast/signalcast/pkg/testkit"
)

func TestUpRunsEverything(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "stack")
	r := upWith(t, dir, []string{
		"RATE_LIMIT_ANON=0", "RESOLVE_CHUNK=1000", "PRICE_TOLERANCE_BPS=1", "VENUE_SIM_DATA=/data",
		"HTTP_ADDR=0.0.0.0:1", "DATABASE_URL=",
	}, "--hubs", "2", "--preload", "pg_stat_statements", "--set", "work_mem=9MB")
	s := r.stack()
	for _, base := range append([]string{s.Hub, s.API, s.Clock}, s.Hubs...) {
		var health map[string]string
		get(t, base+"/healthz", &health)
		if health["nonce"] != s.Nonce || s.Nonce == "" {
			t.Errorf("%s: nonce %q, want %q", base, health["nonce"], s.Nonce)
		}
		if !strings.HasPrefix(base, "http://127.0.0.1:") {
			t.Errorf("%s does not listen on 127.0.0.1", base)
		}
	}
	if want := []string{"api", "clock", "hub", "hub-2", "idp", "postgres", "redis", "up", "venues"}; !slices.Equal(living(s), want) {
		t.Errorf("processes %v; want %v", living(s), want)
	}
	if info, err := os.Stat(filepath.Join(dir, stackFile)); err != nil || info.Mode().Perm() != 0o600 {
		t.Error("stack.json must have mode 0600", err)
	}
	for name, want := range map[string]string{"fsync": "on", "synchronous_commit": "on", "full_page_writes": "on", "work_mem": "9MB", "shared_preload_libraries": "pg_stat_statements"} {
		if got := row(t, s.DatabaseURL, "SHOW "+name); got != want {
			t.Errorf("setting %s of Postgres is %s; want %s", name, got, want)
		}
	}
	checkEnvironments(t, s)
	another := begin(t, dir, nil)
	if err := <-another.end; err == nil || !strings.Contains(another.out.String(), "already running") {
		t.Errorf("a second up in the same directory: %v %s; want already running", err, another.out.String())
	}
	r.terminate()
	if got := living(s); len(got) != 0 {
		t.Errorf("processes after the stop: %v; want none", got)
	}
	if log, err := os.ReadFile(filepath.Join(dir, "logs", "hub.log")); err != nil || !strings.Contains(string(log), "stopped by SIGTERM") {
		t.Errorf("the hub received no SIGTERM: %s %v", log, err)
	}
	if fileExists(filepath.Join(dir, stackFile)) {
		t.Error("stack.json was not deleted")
	}
}

// checkEnvironments compares the environment variables of the programs of a stack with the expected values.
func checkEnvironments(t *testing.T, s stack) {
	t.Helper()
	hub, second, api := environ(t, s.Hub), environ(t, s.Hubs[0]), environ(t, s.API)
	for name, want := range map[string]string{
		"RATE_LIMIT_ANON": "0", "REPLICAS": "2", "ADMIN_SECRET": s.AdminSecret, "CRON_SECRET": s.CronSecret,
		"HUB_URL": s.Hub, "REDIS_URL": s.RedisURL, "ENV": "development",
		"IDP_LOGIN_URL": s.IDP + "/login", "API_ADDR": api["GRPC_ADDR"], "LINK_SECRET": api["LINK_SECRET"], "HLS_URL": s.Origin, "INGEST_PROVIDER": "origin",
	} {
		if hub[name] != want || second[name] != want {
			t.Errorf("hubs: %s=%q and %q, want %q", name, hub[name], second[name], want)
		}
	}
	if "http://"+hub["ORIGIN_LISTEN"] != s.Origin || second["ORIGIN_LISTEN"] != "" || !strings.HasSuffix(hub["ORIGIN_DIR"], "/video") {
		t.Errorf("only the first hub must be the video origin: %q %q %q", hub["ORIGIN_LISTEN"], second["ORIGIN_LISTEN"], hub["ORIGIN_DIR"])
	}
	if hub["SUCCESSOR_SECRETS"] != second["SUCCESSOR_SECRETS"] {
		t.Error("two hubs derive different refresh tokens")
	}
	if hub["HUB_KEYS"] != second["HUB_KEYS"] || !strings.Contains(hub["HUB_KEYS"], `"seed":"`) {
		t.Error("two hubs attest with different keys")
	}
	for name, want := range map[string]string{
		"RESOLUTION_GRACE": "0s", "RESOLVE_CHUNK": "1000", "PRICE_TOLERANCE_BPS": "1", "VENUE_RPS": "2000", "REPLICAS": "1",
		"POLYMARKET_GAMMA_URL": s.Venues + "/gamma", "POLYMARKET_CLOB_URL": s.Venues + "/clob",
		"POLYMARKET_WS_URL": strings.Replace(s.Venues, "http", "ws", 1) + "/ws/market", "MOVEMENT_EVERY": "10s", "HUB_URL": s.Hub,
		"KALSHI_URL": s.Venues + "/kalshi/trade-api/v2", "LIMITLESS_URL": s.Venues + "/limitless", "MANIFOLD_URL": s.Venues + "/manifold/v0",
	} {
		if api[name] != want {
			t.Errorf("api: %s=%q, want %q", name, api[name], want)
		}
	}
	if got := row(t, api["DATABASE_URL"], "SELECT current_user::text || ' ' || current_setting('search_path')"); got != "api_rw api, pg_temp" {
		t.Error(got)
	}
	if got := environ(t, s.Venues)["VENUE_SIM_DATA"]; got != "/data" {
		t.Error(got)
	}
	secrets := []string{hub["SESSION_SECRETS"], hub["SUCCESSOR_SECRETS"], api["MASK_SECRET"], api["WEBHOOK_SECRET_KEY"], api["CHECKPOINT_KEY"], api["LINK_SECRET"], s.AdminSecret, s.CronSecret}
	for _, secret := range secrets {
		if len(secret) < 32 || strings.Count(strings.Join(secrets, " "), secret) != 1 {
			t.Error("a secret is shorter than 32 bytes or used twice")
		}
	}
}

func TestRestartKeepsStateAndFreshDeletesIt(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "stack")
	first := up(t, dir)
	before := first.stack()
	first.terminate()
	again := up(t, dir)
	s := again.stack()
	if s.AdminSecret != before.AdminSecret || s.IDP != before.IDP || s.Nonce == before.Nonce {
		t.Error("a restart must keep secrets and the URL of the issuer, and change the nonce")
	}
	if got := row(t, s.DatabaseURL, "SELECT count(*)::text FROM api.runs"); got != "2" {
		t.Errorf("%s rows after the second start; want 2", got)
	}
	again.terminate()
	fresh := up(t, dir, "--fresh")
	s = fresh.stack()
	if s.AdminSecret == before.AdminSecret {
		t.Error("a fresh stack has the old secrets")
	}
	if got := row(t, s.DatabaseURL, "SELECT count(*)::text FROM api.runs"); got != "1" {
		t.Errorf("%s rows after a start with --fresh; want 1", got)
	}
	fresh.terminate()
}

// TestNextStartWaitsForTheStop checks that a start waits while the last stack in the directory is still stopping: after SIGTERM,
// and after its parent `go run` was killed.
func TestNextStartWaitsForTheStop(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "stack")
	first := upWith(t, dir, []string{"FAKE_STOPS_SLOWLY=hub"})
	before := first.stack()
	_ = first.cmd.Process.Signal(syscall.SIGTERM)
	second := up(t, dir)
	if err := <-first.end; err != nil {
		t.Errorf("the first launcher ended with %v; want exit code 0", err)
	}
	if out := second.out.String(); !strings.Contains(out, "still stopping") {
		t.Errorf("the second launcher did not say that it waits: %s", out)
	}
	if got := living(before); len(got) != 0 {
		t.Errorf("processes of the first stack after the second start: %v; want none", got)
	}
	second.terminate()

	// A shell with the name go replaces `go run`.
	shell, parent := lookShell(t), filepath.Join(t.TempDir(), "go")
	if err := os.WriteFile(parent, shell, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(parent, "-c", `"$0" "$@"; exit $?`, launcher, "up", "--dir", dir, "--ports", "auto", "--bin", fakes)
	cmd.Env = append(os.Environ(), "FAKE_STOPS_SLOWLY=hub")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, 60*time.Second, func() bool { _, err := readStack(dir); return err == nil })
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	up(t, dir).terminate()
}

// lookShell returns the program sh.
func lookShell(t *testing.T) []byte {
	t.Helper()
	path, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestForeignDirectoryIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	mine := filepath.Join(dir, "mine.txt")
	if err := os.WriteFile(mine, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{nil, {"--fresh"}} {
		r := begin(t, dir, nil, args...)
		if err := <-r.end; err == nil || !strings.Contains(r.out.String(), "choose another --dir") {
			t.Errorf("up %v in a foreign directory: %v %s; want a refusal", args, err, r.out.String())
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 || !fileExists(mine) {
		t.Fatal(entries, err)
	}
}

func TestDeadProcessesAreRestarted(t *testing.T) {
	t.Parallel()
	r := up(t, filepath.Join(t.TempDir(), "stack"))
	s := r.stack()
	row(t, s.DatabaseURL, "INSERT INTO hub.runs DEFAULT VALUES RETURNING 'x'")
	for name, check := range map[string]func() bool{
		"api": func() bool { return answers(s.API + "/readyz") },
		"hub": func() bool { return answers(s.Hub + "/readyz") },
		"redis": func() bool {
			opt, err := redis.ParseURL(s.RedisURL)
			if err != nil {
				t.Fatal(err)
			}
			client := redis.NewClient(opt)
			defer func() { _ = client.Close() }()
			return client.Ping(t.Context()).Err() == nil
		},
		"postgres": func() bool { return answers(s.API+"/readyz") && answers(s.Hub+"/readyz") },
	} {
		old := s.PIDs[name]
		testkit.Kill(t, old)
		testkit.Eventually(t, 20*time.Second, func() bool {
			now := r.stack().PIDs[name]
			return now != old && now != 0 && check()
		})
		if !strings.Contains(r.out.String(), name+" restarted") {
			t.Errorf("the restart of %s was not printed: %s", name, r.out.String())
		}
	}
	if got := row(t, s.DatabaseURL, "SELECT count(*)::text FROM hub.runs"); got != "2" {
		t.Errorf("%s rows after the crash; want 2", got)
	}
	r.terminate()
}

func TestKilledLauncherLeavesNothing(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "stack")
	r := up(t, dir)
	s := r.stack()
	_ = syscall.Kill(s.PIDs["hub"], syscall.SIGSTOP) // a stopped process must end, too
	_ = r.cmd.Process.Kill()
	<-r.end
	testkit.Eventually(t, 5*time.Second, func() bool { return len(living(s)) == 0 })
	if _, err := readStack(dir); err == nil {
		t.Error("readStack returned a killed stack")
	}
	again := up(t, dir)
	if got := row(t, again.stack().DatabaseURL, "SELECT count(*)::text FROM api.runs"); got != "2" {
		t.Errorf("%s rows after the second start; want 2", got)
	}
	if out, err := exec.Command(launcher, "stop", "--dir", dir).CombinedOutput(); err != nil {
		t.Errorf("stop: %v %s", err, out)
	}
	if err := <-again.end; err != nil {
		t.Error(err)
	}
}

func TestTwoStacksShareNothing(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	a, b := up(t, filepath.Join(base, "a")), up(t, filepath.Join(base, "b"))
	one, two := a.stack(), b.stack()
	if one.DatabaseURL == two.DatabaseURL || one.RedisURL == two.RedisURL || one.Hub == two.Hub || one.AdminSecret == two.AdminSecret || one.Nonce == two.Nonce {
		t.Errorf("two stacks share an address or a secret: %+v %+v", one, two)
	}
	a.terminate()
	if !answers(two.Hub+"/readyz") || len(living(two)) != 8 {
		t.Error("the end of one stack stopped processes of the other")
	}
	b.terminate()
}

func TestProgramThatCannotStartIsShown(t *testing.T) {
	t.Parallel()
	r := begin(t, filepath.Join(t.TempDir(), "stack"), []string{"FAKE_FAILS=hub"})
	err := <-r.end
	if out := r.out.String(); err == nil || !strings.Contains(out, "hub ended before it was ready") || !strings.Contains(out, "HUB_URL is not set") {
		t.Errorf("a hub that does not start: %v: %s", err, out)
	}
}

func TestPorts(t *testing.T) {
	t.Parallel()
	s := &state{dir: t.TempDir()}
	chosen, err := choosePorts(s, portNames(3), nil)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[int]bool{}
	for name, port := range chosen {
		if port == 0 || seen[port] {
			t.Errorf("%s has port %d; want one that is not 0 and not used twice", name, port)
		}
		seen[port] = true
	}
	again, err := choosePorts(s, portNames(1), nil)
	if err != nil || again["idp"] != chosen["idp"] || again["hub"] != chosen["hub"] {
		t.Error("ports of the last run were not reused", err)
	}

	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	taken := l.Addr().(*net.TCPAddr).Port
	_, err = choosePorts(s, portNames(1), map[string]int{"hub": taken})
	if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("port %d of hub is in use", taken)) ||
		!strings.Contains(err.Error(), `make up ARGS="--ports auto"`) {
		t.Errorf("a port in use: %v", err)
	}
}

// TestPortsAreChosenAfterTheCompilation occupies the port of the last run during the compilation, and checks that the stack starts
// with another port. The go command of the test waits for a file and copies the fake programs.
func TestPortsAreChosenAfterTheCompilation(t *testing.T) {
	t.Parallel()
	tools, dir, proceed := t.TempDir(), filepath.Join(t.TempDir(), "stack"), filepath.Join(t.TempDir(), "proceed")
	script := fmt.Sprintf("#!/bin/sh\nif [ \"$1\" = env ]; then echo '%s'; exit; fi\nwhile [ ! -e '%s' ]; do sleep 0.05; done\ncp '%s'/* '%s/'\n",
		filepath.Join(tools, "go.work"), proceed, fakes, filepath.Join(dir, "bin"))
	if err := os.WriteFile(filepath.Join(tools, "go"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	s, err := openState(t.Context(), dir, false)
	if err != nil {
		t.Fatal(err)
	}
	err = writeJSON(s.path(portsFile), map[string]int{"hub": port})
	s.close()
	if err != nil {
		t.Fatal(err)
	}
	r := launchUp(t, dir, []string{"PATH=" + tools + ":" + os.Getenv("PATH")})
	testkit.Eventually(t, 30*time.Second, func() bool { return strings.Contains(r.out.String(), "compiling the programs\n") })
	taken, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	if err := os.WriteFile(proceed, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r.waitUntilReady()
	if hub := r.stack().Hub; hub == fmt.Sprintf("http://127.0.0.1:%d", port) || !answers(hub+"/readyz") {
		t.Errorf("the hub is %s; want another port than %d", hub, port)
	}
	r.terminate()
}
