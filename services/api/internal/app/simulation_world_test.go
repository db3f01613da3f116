package app

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/config"
	"github.com/signalcast/signalcast/pkg/localdb"
	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/pkg/telemetry"
	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/pkg/version"
	"github.com/signalcast/signalcast/services/api/internal/market"
	"github.com/signalcast/signalcast/services/api/internal/postgres"
	"github.com/signalcast/signalcast/services/api/internal/signal"
	"github.com/signalcast/signalcast/services/api/internal/venue"
)

// world is one ledger, the simulated venues that it reads, and a clock that both use. The ledger has a real Postgres database
// and the real adapters of the venues. No background loops run, so every step happens at a time that the test sets.
type world struct {
	t      *testing.T
	app    *App
	clock  *testkit.Clock
	db     *pgxpool.Pool // connections of the schema owner
	venues string        // URL of the venue simulator
	rng    *rand.Rand
	http   *http.Client
	ports  market.Venues // adapters for second quotes, separate from those of app
}

// workers is the maximum number of goroutines that the function each starts.
const workers = 16

func newWorld(t *testing.T, simulator string, seed uint64) *world {
	t.Helper()
	w := &world{
		t: t, clock: testkit.NewClock(time.Now().UTC().Truncate(time.Second)), rng: rand.New(rand.NewPCG(seed, 17)),
		venues: startVenues(t, simulator, seed), http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: workers}},
	}
	db := testkit.Postgres(t, pg.Schema{Name: "api", Files: postgres.Migrations()})
	w.db = testkit.Pool(t, db.Admin)
	env := validEnv()
	for name, value := range map[string]string{
		"ENV": "test", "DATABASE_URL": ownerURL(t, db), "REDIS_URL": testkit.Redis(t), "DB_MAX_CONNS": "16", "DB_READ_TIMEOUT": "20s",
		"POLYMARKET_GAMMA_URL": w.venues + "/gamma", "POLYMARKET_CLOB_URL": w.venues + "/clob",
		"KALSHI_URL": w.venues + "/kalshi/trade-api/v2", "LIMITLESS_URL": w.venues + "/limitless", "MANIFOLD_URL": w.venues + "/manifold/v0",
		"VENUE_RPS": "10000", "MANIFOLD_WAIT": "1s", "MANIFOLD_RATED_CREATORS": "*", "RESOLUTION_GRACE": "0s", "LOG_LEVEL": "error",
		"HTTP_ADDR": "127.0.0.1:0", "GRPC_ADDR": "127.0.0.1:0", "METRICS_ADDR": "",
	} {
		env[name] = value
	}
	cfg, err := config.LoadFrom[Config](env)
	if err != nil {
		t.Fatal(err)
	}
	w.app, err = New(t.Context(), cfg, io.Discard, w.clock.Now)
	if err != nil {
		t.Fatal(err)
	}
	if w.ports, err = w.app.venues(venue.NewMeter(telemetry.NewMetrics(serviceName, version.Read()).Registerer())); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.app.Close(context.Background()); err != nil {
			t.Errorf("close the ledger: %v", err)
		}
	})
	w.setClock()
	return w
}

// ownerURL returns the connection string of the schema owner, with the schema in its search path. The tests use it because a
// trigger rejects calls of the service role with a time that is not the current time of the database.
func ownerURL(t *testing.T, db testkit.Database) string {
	t.Helper()
	sep := "?"
	if strings.Contains(db.Admin, "?") {
		sep = "&"
	}
	return db.Admin + sep + "search_path=api"
}

// startVenues starts the venue simulator and returns its URL. The simulator ends with the test.
func startVenues(t *testing.T, simulator string, seed uint64) string {
	t.Helper()
	listener := testkit.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	addr := listener.Addr().String()
	_ = listener.Close()
	cmd := exec.Command(simulator)
	cmd.Env = []string{"HTTP_ADDR=" + addr, "VENUE_SIM_MARKETS=1", "VENUE_SIM_SEED=" + strconv.FormatUint(seed, 10)}
	child := testkit.Must(localdb.StartChild(cmd, syscall.SIGKILL))(t)
	t.Cleanup(func() { child.Stop(context.Background(), syscall.SIGTERM, 5*time.Second) })
	testkit.Eventually(t, 20*time.Second, func() bool {
		resp, err := http.Get("http://" + addr + "/healthz")
		if err == nil {
			_ = resp.Body.Close()
		}
		return err == nil
	})
	return "http://" + addr
}

// advance advances the clock of the ledger and the clock of the simulated venues.
func (w *world) advance(d time.Duration) {
	w.clock.Advance(d)
	w.setClock()
}

func (w *world) setClock() {
	w.control("/sim/clock", map[string]any{"at": w.clock.Now().Format(time.RFC3339Nano)})
}

// control sends a request to a control route of the simulator, and returns the member id of the answer.
func (w *world) control(path string, body map[string]any) string {
	raw := testkit.Must(json.Marshal(body))(w.t)
	resp := testkit.Must(w.http.Post(w.venues+path, "application/json", bytes.NewReader(raw)))(w.t)
	defer func() { _ = resp.Body.Close() }()
	answer, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode/100 != 2 {
		w.t.Fatalf("POST %s: status %d, answer %s (%v)", path, resp.StatusCode, answer, err)
	}
	var made struct{ ID string }
	_ = json.Unmarshal(answer, &made) // the clock answers without an id
	return made.ID
}

// retryUnavailable repeats a step while it fails with db_unavailable, for at most a minute: on a busy machine, reads of the
// database can exceed their deadline.
func (w *world) retryUnavailable(what string, do func() error) {
	end := time.Now().Add(time.Minute)
	for {
		err := do()
		if err == nil {
			return
		}
		if apperr.Of(err).Code != "db_unavailable" || time.Now().After(end) {
			w.t.Errorf("%s: %v", what, err)
			return
		}
	}
}

// each calls do with the numbers 0 to n-1, in up to workers goroutines.
func each(n int, do func(i int)) {
	var wait sync.WaitGroup
	for k := range min(n, workers) {
		wait.Go(func() {
			for i := k; i < n; i += workers {
				do(i)
			}
		})
	}
	wait.Wait()
}

// game is one market of the simulation, with its true probability at every moment.
type game struct {
	id      protocol.MarketID
	venue   string // name of the venue; empty: native market
	path    []moment
	outcome protocol.Side
	creator string // operator of a native market; empty: an administrator
}

// moment is a true probability of YES in bps, and the time from which it applies.
type moment struct {
	at  time.Time
	yes int
}

// yes returns the current true probability of YES in bps.
func (g *game) yes() int { return g.path[len(g.path)-1].yes }

// yesAt returns the true probability of YES at a time, in bps.
func (g *game) yesAt(at time.Time) int {
	yes := g.path[0].yes
	for _, m := range g.path {
		if !m.at.After(at) {
			yes = m.yes
		}
	}
	return yes
}

// chance returns the probability of a side in bps. yes is the probability of YES.
func chance(side protocol.Side, yes int) int {
	if side == protocol.No {
		return 10_000 - yes
	}
	return yes
}

// gameVenues lists the venues. The markets of a round are distributed over them.
var gameVenues = []string{"polymarket", "kalshi", "limitless", "manifold"}

// newGames creates n markets at the venues, and makes the ledger read each of them. Their true probabilities are whole
// percentages from 4 % to 96 %, which every venue can quote.
func (w *world) newGames(n int) []*game {
	games := make([]*game, n)
	for i := range games {
		games[i] = &game{venue: gameVenues[i%len(gameVenues)], path: []moment{{w.clock.Now(), 100 * (4 + w.rng.IntN(93))}}}
	}
	end := w.clock.Now().Add(30 * 24 * time.Hour).Format(time.RFC3339)
	each(n, func(i int) {
		g := games[i]
		g.id = protocol.MarketID(w.control("/sim/"+g.venue+"/markets", map[string]any{
			"question": "Will it rain at place " + uuid.NewString() + "?", "yesPrice": float64(g.yes()) / 10_000, "endDate": end, "volume": 50_000,
		}))
		w.retryUnavailable("read "+string(g.id), func() error {
			_, err := w.app.markets.Refresh(w.t.Context(), g.id)
			return err
		})
	})
	return games
}

// newNative creates a native market. Its initial price is the true probability, because no other information about the market
// exists.
func (w *world) newNative(yes int, creator string) *game {
	d := market.Draft{
		Question: "Will it rain at place " + uuid.NewString() + "?", CutoffAt: w.clock.Now().Add(30 * 24 * time.Hour), Lane: "SCIENCE",
		InitialYes: protocol.Bps(yes), CreatedBy: "admin",
	}
	if creator != "" {
		d.CreatedBy, d.MessageID = creator, "msg_"+strings.Repeat(strings.ReplaceAll(uuid.NewString(), "-", ""), 2)
	}
	m, err := w.app.markets.CreateNative(w.t.Context(), d)
	if err != nil {
		w.t.Fatalf("create a native market: %v", err)
	}
	return &game{id: m.ID, path: []moment{{w.clock.Now(), yes}}, creator: creator}
}

// move changes the true probability of each market by up to most bps. Up and down are equally probable, so the expected change
// is 0. The venue quotes the new probability at once.
func (w *world) move(games []*game, most int) {
	for _, g := range games {
		size := min(most, g.yes()-200, 9_800-g.yes())
		if w.rng.IntN(2) == 0 {
			size = -size
		}
		g.path = append(g.path, moment{w.clock.Now(), g.yes() + size})
	}
	each(len(games), func(i int) { w.quote(games[i]) })
}

// quote makes the venue show the current true probability of a market as its price.
func (w *world) quote(g *game) {
	w.control(fmt.Sprintf("/sim/%s/markets/%s", g.venue, g.id), map[string]any{"yesPrice": float64(g.yes()) / 10_000})
}

// decide draws the outcome of each market with its current true probability.
func (w *world) decide(games []*game) {
	for _, g := range games {
		g.outcome = protocol.No
		if w.rng.IntN(10_000) < g.yes() {
			g.outcome = protocol.Yes
		}
	}
}

// fail makes the reads of a venue fail for the given time.
func (w *world) fail(venue, mode string, d time.Duration) {
	w.control("/sim/"+venue+"/fault", map[string]any{"mode": mode, "seconds": d.Seconds()})
}

// player is one operator of the simulation. Each belongs to one strategy.
type player struct{ id, handle string }

const insertPlayers = `
WITH u AS (
    INSERT INTO api.users (id, issuer, provider_id, public_id, handle, display_name, created_at)
    SELECT id, 'seed', handle, 'op_' || substr(md5(handle), 1, 16), handle, handle, $3
    FROM unnest($1::uuid[], $2::text[]) AS t (id, handle)
    RETURNING id
), scores AS (
    INSERT INTO api.operator_scores (user_id) SELECT id FROM u
)
INSERT INTO api.operator_totals (user_id) SELECT id FROM u`

// newPlayers stores n operators. Their handles begin with prefix.
func (w *world) newPlayers(prefix string, n int) []player {
	out := make([]player, n)
	ids, handles := make([]string, n), make([]string, n)
	for i := range out {
		out[i] = player{uuid.Must(uuid.NewV7()).String(), fmt.Sprintf("%s_%d", prefix, i)}
		ids[i], handles[i] = out[i].id, out[i].handle
	}
	if _, err := w.db.Exec(w.t.Context(), insertPlayers, ids, handles, w.clock.Now()); err != nil {
		w.t.Fatalf("insert operators: %v", err)
	}
	return out
}

// call is one call that a strategy wants to file. price is the stated price in bps.
type call struct {
	by    player
	game  *game
	side  protocol.Side
	price int
}

// file files calls concurrently and returns the number of rejected ones.
func (w *world) file(calls []call) (refused int) {
	var mu sync.Mutex
	each(len(calls), func(i int) {
		c := calls[i]
		draft := signal.Draft{ID: uuid.Must(uuid.NewV7()).String(), MarketID: c.game.id, Side: c.side, Price: protocol.Bps(min(max(c.price, 0), 10_000)), Source: "web"}
		if _, err := w.app.signals.File(w.t.Context(), signal.Caller{OperatorID: c.by.id}, draft); err != nil {
			mu.Lock()
			defer mu.Unlock()
			refused++
		}
	})
	return refused
}

// buildVenues compiles the venue simulator and returns the path of the program.
func buildVenues(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "venuesim")
	if out, err := exec.Command("go", "build", "-o", path, "github.com/signalcast/signalcast/deploy/venuesim").CombinedOutput(); err != nil {
		t.Fatalf("build the venue simulator: %v\n%s", err, out)
	}
	return path
}
