package localdb

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// RedisConfig describes the Redis server that StartRedis finds or starts.
type RedisConfig struct {
	URL       string // use this server and start none
	Databases int    // number of databases; 0: 16
	InProcess bool   // use an in-process implementation if no server can be started
	Log       Log
}

// Redis is a server that was found or started. It stores no data on disk. A server configured by URL and the
// in-process implementation have no process id and no log.
type Redis struct {
	*Process
	cfg       RedisConfig
	url       string
	tool      string
	dir       string
	port      int
	inProcess *miniredis.Miniredis
}

// StartRedis finds or starts the server that cfg describes. If no server can be started and cfg.InProcess is not set, the error
// lists every attempt and the command that installs Redis.
func StartRedis(ctx context.Context, cfg RedisConfig) (*Redis, error) {
	r := &Redis{Process: NewProcess(""), cfg: cfg, url: cfg.URL}
	if cfg.URL != "" {
		major, _, err := redisInfo(ctx, cfg.URL)
		if err == nil && major < minRedis {
			err = fmt.Errorf("the server has version %d; at least %d is required", major, minRedis)
		}
		if err != nil {
			return nil, fmt.Errorf("the configured Redis cannot be used: %w", err)
		}
		return r, nil
	}
	fail := &failure{what: "Redis", hint: hintRedis()}
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
		return r.openInProcess()
	}
	return nil, fail
}

func (r *Redis) open(ctx context.Context) error {
	major, err := majorVersion(ctx, r.tool)
	if err != nil {
		return err
	}
	if major < minRedis {
		return fmt.Errorf("version %d; at least %d is required", major, minRedis)
	}
	if r.dir, err = tempDir(false); err != nil {
		return err
	}
	r.Process = NewProcess(filepath.Join(r.dir, "redis.log"))
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

func (r *Redis) openInProcess() (*Redis, error) {
	r.inProcess = miniredis.NewMiniRedis()
	if err := r.inProcess.StartAddr("127.0.0.1:0"); err != nil {
		return nil, fmt.Errorf("start the in-process Redis: %w", err)
	}
	r.inProcess.ClockTTL(true)
	r.url = "redis://" + r.inProcess.Addr() + "/0"
	r.cfg.Log.printf("warning: redis-server is not installed; a slow in-process Redis is used. To install Redis, run: %s",
		hintRedis())
	return r, nil
}

// URL returns the connection string of database 0.
func (r *Redis) URL() string { return r.url }

// Restart starts the server again on the same port after it has ended. Its data is lost.
func (r *Redis) Restart(ctx context.Context) error {
	databases := r.cfg.Databases
	if databases == 0 {
		databases = 16
	}
	cmd := exec.Command(r.tool, "--bind", "127.0.0.1", "--port", strconv.Itoa(r.port), "--save", "",
		"--appendonly", "no", "--dir", r.dir, "--daemonize", "no",
		"--databases", strconv.Itoa(databases), "--maxmemory-policy", "noeviction")
	cmd.Dir = r.dir
	return r.startReady(ctx, cmd, syscall.SIGKILL, 30*time.Second, func(ctx context.Context) error {
		// A plain dial comes first, because the Redis client logs every refused connection.
		conn, err := net.DialTimeout("tcp", fmt.Sprintf("127.0.0.1:%d", r.port), time.Second)
		if err != nil {
			return err
		}
		_ = conn.Close()
		_, pid, err := redisInfo(ctx, r.url)
		if err == nil && pid != r.PID() {
			return errPortTaken
		}
		return err
	})
}

// redisInfo returns the major version and the process id of the server at url.
func redisInfo(ctx context.Context, url string) (major, pid int, err error) {
	opt, err := redis.ParseURL(url)
	if err != nil {
		return 0, 0, errors.New("the Redis URL is invalid")
	}
	opt.MaxRetries, opt.DialerRetries = -1, 1
	opt.DialTimeout, opt.ReadTimeout, opt.WriteTimeout = time.Second, time.Second, time.Second
	opt.DisableIdentity = true
	opt.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	client := redis.NewClient(opt)
	defer func() { _ = client.Close() }()
	info, err := client.InfoMap(ctx, "server").Result()
	if err != nil {
		return 0, 0, err
	}
	server := info["Server"]
	version, _, _ := strings.Cut(server["redis_version"], ".") // Valkey also reports redis_version
	major, _ = strconv.Atoi(version)
	pid, _ = strconv.Atoi(server["process_id"])
	return major, pid, nil
}

// Stop ends a server that StartRedis started, or the in-process implementation, and removes its directory. It kills the
// server after 5 s. A server configured by URL is not changed.
func (r *Redis) Stop(ctx context.Context) {
	if r.inProcess != nil {
		r.inProcess.Close()
	}
	r.Terminate(ctx, syscall.SIGTERM, 5*time.Second)
	if r.dir != "" {
		_ = os.RemoveAll(r.dir)
	}
}
