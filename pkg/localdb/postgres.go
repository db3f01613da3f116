package localdb

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/signalcast/signalcast/pkg/dbtime"
)

// Log is a function that receives each progress message. If it is nil, messages are discarded.
type Log func(line string)

func (l Log) printf(format string, args ...any) {
	if l != nil {
		l(fmt.Sprintf(format, args...))
	}
}

// PostgresConfig describes the Postgres server that StartPostgres finds or starts. The zero value is a test server in a
// temporary directory.
type PostgresConfig struct {
	URL      string            // use this server and start none
	Dir      string            // directory of the cluster; empty: a temporary one that Stop removes
	Durable  bool              // enables fsync, synchronous_commit and full_page_writes; data on disk
	Preload  []string          // shared_preload_libraries, for example pg_stat_statements
	Settings map[string]string // further settings, for example shared_buffers
	Log      Log
}

// Postgres is a server that was found or started. A server configured by URL has no process id and no log.
type Postgres struct {
	*Process
	cfg     PostgresConfig
	url     string
	temp    string // directory that Stop removes
	cluster cluster
	port    int
}

// StartPostgres finds or starts the server that cfg describes. If no server can be started, the error lists every attempt and the
// command that installs Postgres.
func StartPostgres(ctx context.Context, cfg PostgresConfig) (*Postgres, error) {
	p := &Postgres{Process: NewProcess(""), cfg: cfg}
	if cfg.URL != "" {
		p.url = cfg.URL
		if err := checkServer(ctx, cfg.URL); err != nil {
			return nil, fmt.Errorf("the configured Postgres cannot be used: %w", err)
		}
		return p, nil
	}
	dir := cfg.Dir
	if dir == "" {
		var err error
		if dir, err = tempDir(cfg.Durable); err != nil {
			return nil, err
		}
		p.temp = dir
	}
	if cfg.Durable && inMemory(filepath.Dir(dir)) {
		cfg.Log.printf("warning: %s is in memory; its data is lost when the machine stops", dir)
	}
	if err := p.open(ctx, dir); err != nil {
		p.removeTemp()
		return nil, err
	}
	return p, nil
}

func (p *Postgres) open(ctx context.Context, dir string) (err error) {
	if p.cluster, err = openCluster(ctx, dir, p.cfg); err != nil {
		return err
	}
	p.Process = NewProcess(filepath.Join(filepath.Dir(p.cluster.data), "postgres.log"))
	for range 5 {
		if p.port, err = FreePort(); err != nil {
			return err
		}
		p.url = fmt.Sprintf("postgres://%s@127.0.0.1:%d/postgres?sslmode=disable", superuser, p.port)
		if err = p.Restart(ctx); !errors.Is(err, errPortTaken) {
			return err
		}
	}
	return err
}

// URL returns the connection string of the administrator, for the database postgres or the one in PostgresConfig.URL.
func (p *Postgres) URL() string { return p.url }

// External reports whether the server was configured by URL. Stop does not end such a server.
func (p *Postgres) External() bool { return p.cfg.URL != "" }

// Restart starts the server again with the same port and data after it has ended, and returns when it accepts
// connections. Postgres refuses to start while processes of a crashed server are running: Restart waits two seconds
// for them and then kills them.
func (p *Postgres) Restart(ctx context.Context) error {
	retryCtx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	for began := time.Now(); ; {
		err := p.startOnce(ctx)
		if !errors.Is(err, errStillRunning) || dbtime.Sleep(retryCtx, 50*time.Millisecond) != nil {
			return err
		}
		if time.Since(began) > 2*time.Second {
			p.cluster.killLeftovers()
		}
	}
}

// Stop ends a server that StartPostgres started, and removes a temporary cluster. It requests a fast shutdown and kills the
// server after 10 s; Postgres then recovers at its next start. A server configured by URL is not changed.
func (p *Postgres) Stop(ctx context.Context) {
	p.Terminate(ctx, syscall.SIGINT, 10*time.Second)
	p.removeTemp()
}

func (p *Postgres) removeTemp() {
	if p.temp != "" {
		_ = os.RemoveAll(p.temp)
	}
}

// failure is the error that lists all failed attempts to start a server, and the command that installs the server.
type failure struct {
	what  string
	steps []string
	hint  string
}

func (f *failure) add(step string, err error) {
	f.steps = append(f.steps, "  "+step+": "+err.Error())
}

func (f *failure) Error() string {
	return fmt.Sprintf("cannot start %s:\n%s\nto install it, run: %s", f.what, strings.Join(f.steps, "\n"), f.hint)
}
