package localdb

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// RedisConfig says which Redis is wanted.
type RedisConfig struct {
	URL       string // use this server and start none
	Databases int    // how many numbered databases; 0: 16
	InProcess bool   // when no server is installed, a stand-in inside this process will do
	Log       Log
}

// Redis is a server that was found or started. It stores nothing on disk.
type Redis struct {
	cfg     RedisConfig
	url     string
	tool    string
	dir     string
	port    int
	standIn *miniredis.Miniredis

	mu    sync.Mutex
	child *Child
}

// StartRedis finds or starts a Redis as cfg says. Without an installed server
// the error names the one line to type, unless a stand-in will do.
func StartRedis(ctx context.Context, cfg RedisConfig) (*Redis, error) {
	r := &Redis{cfg: cfg, url: cfg.URL}
	if cfg.URL != "" {
		major, _, err := redisInfo(ctx, cfg.URL)
		if err == nil && major < oldestRedis {
			err = fmt.Errorf("it is version %d, at least %d is needed", major, oldestRedis)
		}
		if err != nil {
			return nil, fmt.Errorf("the Redis that was named cannot be used: %w", err)
		}
		return r, nil
	}
	fail := &failure{what: "Redis", hint: HintRedis()}
	for _, name := range []string{"valkey-server", "redis-server"} {
		tool, err := exec.LookPath(name)
		if err != nil {
			fail.add(name, errors.New("not on PATH"))
			continue
		}
		r.tool = tool
		if err := r.open(ctx); err != nil {
			fail.add(name, err)
			continue
		}
		return r, nil
	}
	if cfg.InProcess {
		return r.openStandIn()
	}
	return nil, fail
}

func (r *Redis) open(ctx context.Context) error {
	major, err := majorVersion(ctx, r.tool)
	if err != nil {
		return err
	}
	if major < oldestRedis {
		return fmt.Errorf("version %d, at least %d is needed", major, oldestRedis)
	}
	if r.dir, err = tempDir(false); err != nil {
		return err
	}
	for range 5 {
		if r.port, err = FreePort(); err != nil {
			break
		}
		r.url = fmt.Sprintf("redis://127.0.0.1:%d/0", r.port)
		if err = r.Restart(ctx); err == nil {
			return nil
		}
	}
	_ = os.RemoveAll(r.dir)
	return err
}

func (r *Redis) openStandIn() (*Redis, error) {
	r.standIn = miniredis.NewMiniRedis()
	if err := r.standIn.StartAddr("127.0.0.1:0"); err != nil {
		return nil, fmt.Errorf("start the stand-in for Redis: %w", err)
	}
	r.standIn.ClockTTL(true)
	r.url = "redis://" + r.standIn.Addr() + "/0"
	r.cfg.Log.printf("warning: no redis-server found, a slow stand-in inside this process is used; to have a real one type: %s", HintRedis())
	return r, nil
}

// URL is the connection string of database 0.
func (r *Redis) URL() string { return r.url }

// PID is the id of the server process, 0 when there is none of ours.
func (r *Redis) PID() int {
	if c := r.process(); c != nil {
		return c.PID()
	}
	return 0
}

// LogFile is where the server writes its messages.
func (r *Redis) LogFile() string { return filepath.Join(r.dir, "redis.log") }

// Done is closed when the current server process has ended; it is nil when
// there is none of ours.
func (r *Redis) Done() <-chan struct{} {
	if c := r.process(); c != nil {
		return c.Done()
	}
	return nil
}

func (r *Redis) process() *Child {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.child
}

// Restart starts the server again, empty, on its port after it ended.
func (r *Redis) Restart(ctx context.Context) error {
	log, err := os.OpenFile(r.LogFile(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	databases := r.cfg.Databases
	if databases == 0 {
		databases = 16
	}
	cmd := exec.Command(r.tool, "--bind", "127.0.0.1", "--port", strconv.Itoa(r.port), "--save", "",
		"--appendonly", "no", "--dir", r.dir, "--daemonize", "no",
		"--databases", strconv.Itoa(databases), "--maxmemory-policy", "noeviction")
	cmd.Dir, cmd.Stdout, cmd.Stderr = r.dir, log, log
	child, err := StartChild(cmd, syscall.SIGKILL)
	if err != nil {
		return err
	}
	r.mu.Lock()
	r.child = child
	r.mu.Unlock()
	if err := r.ready(ctx, child); err != nil {
		child.Stop(context.WithoutCancel(ctx), syscall.SIGTERM, 2*time.Second)
		return err
	}
	return nil
}

func (r *Redis) ready(ctx context.Context, child *Child) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	for {
		// The plain dial first: the client library would log each refusal.
		conn, err := net.DialTimeout("tcp", fmt.Sprintf("127.0.0.1:%d", r.port), time.Second)
		if err == nil {
			_ = conn.Close()
			var pid int
			if _, pid, err = redisInfo(ctx, r.url); err == nil && pid != child.PID() {
				return errPortTaken
			}
			if err == nil {
				return nil
			}
		}
		select {
		case <-child.Done():
			return fmt.Errorf("redis ended at its start: %w\n%s", child.Err(), tail(r.LogFile(), 3))
		default:
		}
		if pause(ctx, 2*time.Millisecond) != nil {
			return fmt.Errorf("redis takes no connection: %w", err)
		}
	}
}

var (
	redisVersion = regexp.MustCompile(`(?m)^(?:valkey|redis)_version:(\d+)`)
	redisProcess = regexp.MustCompile(`(?m)^process_id:(\d+)`)
)

// redisInfo tells the major version and the process of the server at url.
func redisInfo(ctx context.Context, url string) (major, pid int, err error) {
	opt, err := redis.ParseURL(url)
	if err != nil {
		return 0, 0, errors.New("the Redis URL cannot be read")
	}
	opt.MaxRetries, opt.DialerRetries = -1, 1
	opt.DialTimeout, opt.ReadTimeout, opt.WriteTimeout = time.Second, time.Second, time.Second
	opt.DisableIdentity = true
	opt.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	client := redis.NewClient(opt)
	defer func() { _ = client.Close() }()
	info, err := client.Info(ctx, "server").Result()
	if err != nil {
		return 0, 0, err
	}
	if m := redisVersion.FindStringSubmatch(info); m != nil {
		major, _ = strconv.Atoi(m[1])
	}
	if m := redisProcess.FindStringSubmatch(info); m != nil {
		pid, _ = strconv.Atoi(m[1])
	}
	return major, pid, nil
}

// Stop ends a server of ours and removes what it left.
func (r *Redis) Stop(ctx context.Context) {
	if r.standIn != nil {
		r.standIn.Close()
	}
	if c := r.process(); c != nil {
		c.Stop(ctx, syscall.SIGTERM, 5*time.Second)
	}
	if r.dir != "" {
		_ = os.RemoveAll(r.dir)
	}
}
