package localdb

import (
	"context"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

func TestClusterSurvivesKill(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "pg")
	pg := startPostgres(t, PostgresConfig{Dir: dir, Durable: true})
	conn, err := pgx.Connect(t.Context(), pg.URL())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), "CREATE TABLE t AS SELECT 'kept'::text AS v"); err != nil {
		t.Fatal(err)
	}
	for _, pid := range Family(pg.PID()) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	<-pg.Done()
	url := pg.URL()
	if err := pg.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if pg.URL() != url {
		t.Fatal("the URL changed after a restart")
	}
	if got := query(t, url, "SELECT v FROM t"); got != "kept" {
		t.Fatalf("the table contains %q after the restart", got)
	}
	pg.Stop(t.Context())
	again := startPostgres(t, PostgresConfig{Dir: dir, Durable: true})
	if got := query(t, again.URL(), "SELECT v FROM t"); got != "kept" {
		t.Fatalf("the table contains %q after another start", got)
	}
}

func TestRestartEndsProcessesOfACrashedServer(t *testing.T) {
	pg := startPostgres(t, PostgresConfig{Dir: t.TempDir(), Durable: true})
	conn, err := pgx.Connect(t.Context(), pg.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
	// A stopped backend does not notice that its server has ended. The same is true of a backend that waits for a
	// lock of a killed process.
	if err := syscall.Kill(int(conn.PgConn().PID()), syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	_ = syscall.Kill(pg.PID(), syscall.SIGKILL)
	<-pg.Done()
	if err := pg.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := query(t, pg.URL(), "SELECT 'up'"); got != "up" {
		t.Fatalf("the query after the restart returned %q", got)
	}
}

func TestStopEndsAStoppedServer(t *testing.T) {
	pg := startPostgres(t, PostgresConfig{})
	for _, pid := range Family(pg.PID()) {
		// A child may have ended since Family listed it. The server must not have.
		if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil && pid == pg.PID() {
			t.Fatal(err)
		}
	}
	began := time.Now()
	pg.Stop(t.Context())
	if !hasEnded(pg.PID()) || time.Since(began) > 9*time.Second {
		t.Fatalf("the server has not ended after %v", time.Since(began))
	}
	if exists(pg.temp) {
		t.Fatal("the temporary cluster was not removed")
	}
}
