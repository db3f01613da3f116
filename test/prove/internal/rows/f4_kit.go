package rows

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/pkg/localdb"
	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
	"github.com/signalcast/signalcast/test/prove/stack"
)

// kit is a small system of which each part is started and ended by hand.
type kit struct {
	env      *frame.Env
	postgres *localdb.Postgres
	redis    *localdb.Redis
	hub, api *stack.Side
	market   string
	ops      []client.Operator // one for each start
}

// newKit makes a system that has run once, with a market and some operators.
func newKit(ctx context.Context, env *frame.Env, calls int) (k *kit, err error) {
	k = &kit{env: env}
	defer func() {
		if err != nil {
			k.close()
		}
	}()
	k.postgres, err = localdb.StartPostgres(ctx, localdb.PostgresConfig{Dir: filepath.Join(env.Stack.Dir(), "f4"), Durable: true})
	if err != nil {
		return k, err
	}
	admin, err := localdb.EnsureDatabase(ctx, k.postgres.URL(), "signalcast")
	if err != nil {
		return k, err
	}
	if k.redis, err = localdb.StartRedis(ctx, localdb.RedisConfig{}); err != nil {
		return k, err
	}
	if k.api, err = k.service(ctx, "api", admin, nil); err != nil {
		return k, err
	}
	if k.hub, err = k.service(ctx, "hub", admin, map[string]string{"API_ADDR": k.api.GRPC, "CLOCK_ADDR": ""}); err != nil {
		return k, err
	}
	if k.market, err = env.Client.Market(ctx, k.hub.URL, env.Admin(), "Will it be ready in any order?", 5000); err != nil {
		return k, err
	}
	db, err := pgx.Connect(ctx, admin)
	if err != nil {
		return k, err
	}
	defer func() { _ = db.Close(ctx) }()
	k.ops, err = client.Seed(ctx, db, "f4_", env.Seed, calls, 1)
	return k, err
}

// service migrates a schema of the kit's own database and starts what works on it.
func (k *kit) service(ctx context.Context, name, admin string, more map[string]string) (*stack.Side, error) {
	password, err := k.env.Stack.Secret("databasePassword")
	if err != nil {
		return nil, err
	}
	migrate := exec.CommandContext(ctx, filepath.Join(k.env.Stack.Bin(), name), "migrate")
	migrate.Env = append(os.Environ(), "ENV=development", "MIGRATE_DATABASE_URL="+admin, "DB_RW_PASSWORD="+password)
	if out, err := migrate.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%s migrate: %w\n%s", name, err, out)
	}
	settings := map[string]string{"REDIS_URL": k.redis.URL()}
	if settings["DATABASE_URL"], err = localdb.WithUser(admin, name+"_rw", password); err != nil {
		return nil, err
	}
	for key, value := range more {
		settings[key] = value
	}
	return k.env.Stack.Side(ctx, name, settings)
}

// halt ends all parts: the services without warning, the databases in order.
func (k *kit) halt(ctx context.Context) {
	for _, side := range []*stack.Side{k.hub, k.api} {
		if side != nil {
			side.Kill()
		}
	}
	if k.redis != nil {
		_ = syscall.Kill(k.redis.PID(), syscall.SIGKILL) // one that has ended needs no more
		<-k.redis.Done()
	}
	if k.postgres != nil {
		k.postgres.Stop(ctx)
	}
}

func (k *kit) close() {
	ctx := context.Background()
	k.halt(ctx)
	if k.redis != nil {
		k.redis.Stop(ctx) // takes its directory away
	}
}

// start starts the parts in an order, and tells when the last one was.
func (k *kit) start(ctx context.Context, order []string) (last time.Time, err error) {
	for _, part := range order {
		last = time.Now()
		switch part {
		case "pg":
			err = k.postgres.Restart(ctx)
		case "redis":
			err = k.redis.Restart(ctx)
		case "hub":
			err = alive(ctx, k.hub)
		case "api":
			err = alive(ctx, k.api)
		}
		if err != nil {
			return last, fmt.Errorf("%s: %w", part, err)
		}
	}
	return last, nil
}

// alive starts a service and waits until it answers that it lives, ready or not.
func alive(ctx context.Context, side *stack.Side) error {
	if err := side.Launch(); err != nil {
		return err
	}
	up, err := frame.Until(ctx, generous*5*time.Second, func() (bool, error) {
		return side.Ended() || answers(side.URL+"/healthz", http.StatusOK), nil
	})
	switch {
	case err != nil:
		return err
	case side.Ended():
		return fmt.Errorf("it ended (%w): %s", side.Err(), lastLine(side.Tail()))
	case !up:
		return errors.New("it does not answer")
	}
	return nil
}

func answers(url string, status int) bool {
	r, err := doorClient.Get(url)
	if err != nil {
		return false
	}
	_ = r.Body.Close()
	return r.StatusCode == status
}

// works waits until both services are ready, and then files a call, which must be
// taken, and told on the live feed.
func (k *kit) works(ctx context.Context, i int, end time.Time) error {
	ctx, cancel := context.WithDeadline(ctx, end)
	defer cancel()
	for _, side := range []*stack.Side{k.hub, k.api} {
		ready, err := frame.Until(ctx, time.Until(end), func() (bool, error) {
			return side.Ended() || answers(side.URL+"/readyz", http.StatusOK), nil
		})
		switch {
		case side.Ended():
			return fmt.Errorf("%s ended (%w): %s", side.URL, side.Err(), lastLine(side.Tail()))
		case err != nil || !ready:
			return fmt.Errorf("%s is not ready", side.URL)
		}
	}
	said, err := k.stream(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = said.Body.Close() }()
	a := k.env.Client.File(ctx, k.hub.URL, k.ops[i].Keys[0], client.Call{Market: k.market, Yes: true, Price: 5000})
	if err := a.Into(http.StatusOK, nil); err != nil {
		return fmt.Errorf("a call is not taken by what says that it is ready: %w", err)
	}
	in := bufio.NewReader(said.Body)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return fmt.Errorf("the live feed does not tell of a call: %w", err)
		}
		if strings.Contains(line, a.Text("id")) {
			return nil
		}
	}
}

// stream opens the live feed; an api that has just started has none for a moment.
func (k *kit) stream(ctx context.Context) (said *http.Response, err error) {
	var last error
	_, err = frame.Until(ctx, time.Minute, func() (bool, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, k.api.URL+"/api/v1/feed/stream?channels=signals", nil)
		if err != nil {
			return false, err
		}
		res, err := http.DefaultTransport.RoundTrip(req)
		if last = err; err != nil {
			return false, nil
		}
		if res.StatusCode == http.StatusOK {
			said = res
			return true, nil
		}
		last = fmt.Errorf("the live feed is answered %s", res.Status)
		return false, res.Body.Close()
	})
	if said == nil {
		return nil, errors.Join(err, last)
	}
	return said, nil
}
