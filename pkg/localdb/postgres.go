package localdb

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Log receives progress lines; nil is silent.
type Log func(line string)

func (l Log) printf(format string, args ...any) {
	if l != nil {
		l(fmt.Sprintf(format, args...))
	}
}

// PostgresConfig says which Postgres is wanted. The zero value is a test server
// in a temporary directory.
type PostgresConfig struct {
	URL      string            // use this server and start none
	Dir      string            // kept cluster; empty: a temporary one that Stop removes
	Durable  bool              // fsync, synchronous_commit and full_page_writes on, data on disk
	Preload  []string          // shared_preload_libraries, for example pg_stat_statements
	Settings map[string]string // further settings, for example shared_buffers
	Log      Log
}

// Postgres is a server that was found or started.
type Postgres struct {
	cfg     PostgresConfig
	url     string
	temp    string // directory to remove at Stop
	cluster cluster
	port    int

	mu    sync.Mutex
	child *Child
}

// StartPostgres finds or starts a Postgres as cfg says. Its error names every
// step that was tried and the one line to type.
func StartPostgres(ctx context.Context, cfg PostgresConfig) (*Postgres, error) {
	p := &Postgres{cfg: cfg}
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

// Kept tells whether the server was named by URL, so that it is not ours to stop.
func (p *Postgres) Kept() bool { return p.cfg.URL != "" }

// PID is the id of the server process, 0 when the server is not ours.
func (p *Postgres) PID() int {
	if c := p.process(); c != nil {
		return c.PID()
	}
	return 0
}

// Done is closed when the current server process has ended; it is nil when the
// server is not ours.
func (p *Postgres) Done() <-chan struct{} {
	if c := p.process(); c != nil {
		return c.Done()
	}
	return nil
}

// LogFile is where the server writes its messages.
func (p *Postgres) LogFile() string { return p.cluster.log }

func (p *Postgres) process() *Child {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.child
}

// Restart starts the server again with the same port and data after it has ended, and returns when it
// accepts connections. Postgres refuses to start while processes of the crashed server still run:
// Restart gives them two seconds to end and then kills them.
func (p *Postgres) Restart(ctx context.Context) error {
	patience, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	for began := time.Now(); ; {
		err := p.startOnce(ctx)
		if !errors.Is(err, errStillEnding) || pause(patience, 50*time.Millisecond) != nil {
			return err
		}
		if time.Since(began) > 2*time.Second {
			p.cluster.endLeftovers()
		}
	}
}

func (p *Postgres) startOnce(ctx context.Context) error {
	child, err := p.cluster.start(p.port, p.cfg)
	if err != nil {
		return err
	}
	p.mu.Lock()
	p.child = child
	p.mu.Unlock()
	if err := p.cluster.ready(ctx, p.url, child); err != nil {
		stopPostgres(context.WithoutCancel(ctx), child)
		return err
	}
	return nil
}

// Stop ends a server of ours cleanly and removes a temporary cluster. A server
// named by URL is left alone.
func (p *Postgres) Stop(ctx context.Context) {
	if c := p.process(); c != nil {
		stopPostgres(ctx, c)
	}
	p.removeTemp()
}

// stopPostgres asks for a fast shutdown; what is left after the grace is killed
// and recovers at its next start.
func stopPostgres(ctx context.Context, c *Child) {
	c.Stop(ctx, syscall.SIGINT, 10*time.Second)
}

func (p *Postgres) removeTemp() {
	if p.temp != "" {
		_ = os.RemoveAll(p.temp)
	}
}

// failure collects what each step of a search said.
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
