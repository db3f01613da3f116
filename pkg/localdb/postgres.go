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

// Log receives progress lines; nil is silent.
type Log func(line string)

func (l Log) printf(format string, args ...any) {
	if l != nil {
		l(fmt.Sprintf(format, args...))
	}
}

// PostgresConfig says which Postgres to use. The zero value is a test server
// in a temporary directory.
type PostgresConfig struct {
	URL      string            // use this server and start none
	Dir      string            // directory of the cluster; empty: a temporary one that Stop removes
	Durable  bool              // fsync, synchronous_commit and full_page_writes on, data on disk
	Preload  []string          // shared_preload_libraries, for example pg_stat_statements
	Settings map[string]string // further settings, for example shared_buffers
	Log      Log
}

// Postgres is a server that was found or started. The process of a server that was named by URL has no id and no log.
type Postgres struct {
	*Process
	cfg     PostgresConfig
	url     string
	temp    string // directory to remove at Stop
	cluster cluster
	port    int
}

// StartPostgres finds or starts the Postgres of cfg. Its error lists every attempt and the command that installs Postgres.
func StartPostgres(ctx context.Context, cfg PostgresConfig) (*Postgres, error) {
	p := &Postgres{Process: NewProcess(""), cfg: cfg}
	if cfg.URL != "" {
		p.url = cfg.URL
		if err := checkServer(ctx, cfg.URL); err != nil {
			return nil, fmt.Errorf("the Postgres that was named cannot be used: %w", err)
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
		cfg.Log.printf("warning: %s is in memory, what is stored there does not survive a power cut", dir)
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

// URL is the administrator's connection string (database postgres, or the one
// named in the configured URL).
func (p *Postgres) URL() string { return p.url }

// Kept reports whether the server was named by URL. Stop does not end such a server.
func (p *Postgres) Kept() bool { return p.cfg.URL != "" }

// Restart starts the server again with the same port and data after it has ended, and returns when it
// accepts connections. Postgres refuses to start while processes of the crashed server still run:
// Restart gives them two seconds to end and then kills them.
func (p *Postgres) Restart(ctx context.Context) error {
	patience, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	for began := time.Now(); ; {
		err := p.startOnce(ctx)
		if !errors.Is(err, errStillEnding) || dbtime.Sleep(patience, 50*time.Millisecond) != nil {
			return err
		}
		if time.Since(began) > 2*time.Second {
			p.cluster.endLeftovers()
		}
	}
}

// Stop ends a server that was started here with a fast shutdown and removes a temporary cluster. A server that is killed after
// the grace recovers at its next start. A server named by URL is left alone.
func (p *Postgres) Stop(ctx context.Context) {
	p.Terminate(ctx, syscall.SIGINT, 10*time.Second)
	p.removeTemp()
}

func (p *Postgres) removeTemp() {
	if p.temp != "" {
		_ = os.RemoveAll(p.temp)
	}
}

// failure collects the errors of the attempts to start a server.
type failure struct {
	what  string
	steps []string
	hint  string
}

func (f *failure) add(step string, err error) {
	f.steps = append(f.steps, "  "+step+": "+err.Error())
}

func (f *failure) Error() string {
	return fmt.Sprintf("no %s could be started:\n%s\ntype: %s", f.what, strings.Join(f.steps, "\n"), f.hint)
}
