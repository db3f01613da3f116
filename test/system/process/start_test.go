package process

import (
	"bufio"
	"context"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/localdb"
	"github.com/signalcast/signalcast/test/system/stack"
)

// TestServicesStartInAnyOrder starts Postgres, Redis, a hub and an api in every order. It starts each part when the previous
// one runs. Five seconds after the last start, a call must be acknowledged and the live feed must publish it.
func TestServicesStartInAnyOrder(t *testing.T) {
	s := system(t)
	p := newParts(t, s)
	orders := permutations("postgres", "redis", "hub", "api")
	if testing.Short() {
		orders = orders[len(orders)-1:]
	}
	for _, order := range orders {
		t.Run(strings.Join(order, " "), func(t *testing.T) {
			p.kill(t)
			for _, name := range order {
				p.start(t, name)
			}
			p.requireWorking(t, time.Now().Add(machineFactor*5*time.Second))
		})
	}
}

// permutations returns all orders of a list.
func permutations(list ...string) (out [][]string) {
	if len(list) == 0 {
		return [][]string{nil}
	}
	for i, first := range list {
		rest := append(append([]string{}, list[:i]...), list[i+1:]...)
		for _, order := range permutations(rest...) {
			out = append(out, append([]string{first}, order...))
		}
	}
	return out
}

// parts are a hub and an api with a separate Postgres and Redis.
type parts struct {
	s        *stack.Stack
	postgres *localdb.Postgres
	redis    *localdb.Redis
	hub, api *stack.Side
}

// newParts starts all parts once, which creates their data.
func newParts(t *testing.T, s *stack.Stack) *parts {
	t.Helper()
	p := &parts{s: s}
	var err error
	settings := localdb.PostgresConfig{Dir: filepath.Join(s.Dir(), "parts"), Durable: true}
	if p.postgres, err = localdb.StartPostgres(t.Context(), settings); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.postgres.Stop(context.Background()) })
	admin, err := localdb.EnsureDatabase(t.Context(), p.postgres.URL(), "signalcast")
	if err != nil {
		t.Fatal(err)
	}
	if p.redis, err = localdb.StartRedis(t.Context(), localdb.RedisConfig{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.redis.Stop(context.Background()) })
	p.api = p.service(t, "api", admin, nil)
	p.hub = p.service(t, "hub", admin, map[string]string{"API_ADDR": p.api.GRPC, "CLOCK_ADDR": ""})
	return p
}

// service migrates the schema of a service and starts the service. more contains additional environment variables.
func (p *parts) service(t *testing.T, name, admin string, more map[string]string) *stack.Side {
	t.Helper()
	password := p.s.Secret(t, "databasePassword")
	migrate := exec.CommandContext(t.Context(), filepath.Join(stack.Bin(t), name), "migrate")
	migrate.Env = append(os.Environ(), "ENV=development", "MIGRATE_DATABASE_URL="+admin, "DB_RW_PASSWORD="+password)
	if out, err := migrate.CombinedOutput(); err != nil {
		t.Fatalf("%s migrate: %v\n%s", name, err, out)
	}
	database, err := localdb.WithUser(admin, name+"_rw", password)
	if err != nil {
		t.Fatal(err)
	}
	settings := map[string]string{"REDIS_URL": p.redis.URL(), "DATABASE_URL": database}
	maps.Copy(settings, more)
	return p.s.Side(t, name, settings)
}

// kill ends all parts. It sends SIGKILL to the services and to Redis, and shuts Postgres down in order.
func (p *parts) kill(t *testing.T) {
	t.Helper()
	p.hub.Kill()
	p.api.Kill()
	_ = syscall.Kill(p.redis.PID(), syscall.SIGKILL) // the process may have ended
	<-p.redis.Done()
	p.postgres.Stop(context.Background())
}

// start starts a part and waits until it runs. A service runs when /healthz is answered, even if it is not ready.
func (p *parts) start(t *testing.T, name string) {
	t.Helper()
	var err error
	switch name {
	case "postgres":
		err = p.postgres.Restart(context.Background())
	case "redis":
		err = p.redis.Restart(context.Background())
	default:
		side := map[string]*stack.Side{"hub": p.hub, "api": p.api}[name]
		side.Launch(t)
		requireStatus(t, side, "/healthz")
	}
	if err != nil {
		t.Fatalf("start %s: %v", name, err)
	}
}

// requireStatus waits until a service answers a path with 200. It fails the test if the service ends.
func requireStatus(t *testing.T, side *stack.Side, path string) {
	t.Helper()
	stack.Eventually(t, machineFactor*5*time.Second, side.URL+path, func() bool {
		select {
		case <-side.Done():
			t.Fatalf("the service at %s ended before it answered: %v\n%s", side.URL, side.Err(), side.Tail())
		default:
		}
		return status(side.URL+path) == http.StatusOK
	})
}

// requireWorking waits until both services are ready and files a call. It fails the test unless the live feed publishes
// the call.
func (p *parts) requireWorking(t *testing.T, end time.Time) {
	t.Helper()
	requireStatus(t, p.hub, "/readyz")
	requireStatus(t, p.api, "/readyz")
	feed := p.openFeed(t)
	defer func() { _ = feed.Body.Close() }()
	market := stack.Post(t, p.hub.URL+"/api/admin/markets", p.s.Admin(), stack.Body(stack.JSON{
		"question": "Will the services start in any order?", "lane": "OTHER", "cutoffAt": stack.Stamp(time.Now().AddDate(0, 1, 0)),
	})).Require(http.StatusCreated).Text("marketId")
	login := stack.Post(t, p.s.IDP+"/mint", stack.Body(stack.JSON{"user": fmt.Sprintf("starter_%d", time.Now().UnixNano())})).
		Require(http.StatusOK).Text("token")
	key := stack.Post(t, p.hub.URL+"/api/dev/keys", stack.Bearer(login), stack.Body(stack.JSON{"label": "start"})).
		Require(http.StatusCreated).Text("key")
	id := stack.Post(t, p.hub.URL+"/api/predictions", stack.Bearer(key), stack.Body(stack.Call(market, "YES", 5000))).
		Require(http.StatusOK).Text("id")
	for in := bufio.NewReader(feed.Body); ; {
		line, err := in.ReadString('\n')
		if err != nil {
			t.Fatalf("the live feed ended before it published call %s: %v", id, err)
		}
		if strings.Contains(line, id) {
			break
		}
	}
	if late := time.Since(end); late > 0 {
		t.Errorf("the live feed published the call %v after the time limit", late)
	}
}

// openFeed opens the live feed. It retries, because an api that has just started does not serve the feed yet.
func (p *parts) openFeed(t *testing.T) (feed *http.Response) {
	t.Helper()
	client := &http.Client{Timeout: time.Minute}
	stack.Eventually(t, time.Minute, "the live feed", func() bool {
		resp, err := client.Get(p.api.URL + "/api/v1/feed/stream?channels=signals")
		if err != nil {
			return false
		}
		if resp.StatusCode != http.StatusOK {
			_ = resp.Body.Close()
			return false
		}
		feed = resp
		return true
	})
	return feed
}
