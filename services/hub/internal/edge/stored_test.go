package edge_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/hub/internal/broadcast"
	"github.com/signalcast/signalcast/services/hub/internal/edge"
	"github.com/signalcast/signalcast/services/hub/internal/market"
	"github.com/signalcast/signalcast/services/hub/internal/memledger"
	"github.com/signalcast/signalcast/services/hub/internal/onair"
	"github.com/signalcast/signalcast/services/hub/internal/postgres"
	"github.com/signalcast/signalcast/services/hub/internal/share"
	"github.com/signalcast/signalcast/services/hub/internal/station"
)

// bare is a database without a row, for benches that store nothing; the others
// are stored.
type bare struct{}

func (bare) Pins(context.Context, int) ([]market.Pin, error) { return nil, nil }

func (bare) Pin(context.Context, market.Pin) (market.Pin, error) {
	return market.Pin{}, memledger.ErrDB
}

func (bare) Unpin(context.Context, syntax.MarketID) (bool, error) { return false, memledger.ErrDB }

func (bare) Bind(context.Context, station.Stream) error { return memledger.ErrDB }

func (bare) Unbind(context.Context, syntax.MarketID, syntax.Handle, time.Time) (bool, error) {
	return false, memledger.ErrDB
}

func (bare) Streams(context.Context, syntax.MarketID) ([]station.Stream, error) { return nil, nil }

func (bare) Spotlight(context.Context) (broadcast.Held, error) { return broadcast.Held{}, nil }

func (bare) HoldSpotlight(_ context.Context, s broadcast.Spotlight, version int64) (broadcast.Held, error) {
	return broadcast.Held{Spotlight: s, Version: version + 1}, nil
}

// Aired implements broadcast.Streamers: all are shown.
func (bare) Aired(_ context.Context, handles []string) (map[string]bool, error) {
	out := map[string]bool{}
	for _, h := range handles {
		out[h] = true
	}
	return out, nil
}

func (bare) CountTapes(context.Context, []syntax.MarketID) (map[syntax.MarketID]int64, error) {
	return nil, nil
}

func (bare) Clips(context.Context, syntax.MarketID, int) ([]station.Clip, error) { return nil, nil }

func (bare) KeepLink(context.Context, share.Link) (string, error) { return "", memledger.ErrDB }

func (bare) Link(context.Context, string) (share.Link, error) { return share.Link{}, memledger.ErrDB }

// stored makes a bench keep its pins, streams and clips in a database, which the
// test may write to as its owner.
func stored(t testing.TB) (option, *pgxpool.Pool) {
	t.Helper()
	db := testkit.Postgres(t, postgres.Schema(""))
	pool := testkit.Pool(t, db.URL("hub_rw"))
	if err := pool.Ping(t.Context()); err != nil { // so that no read pays for the first connection
		t.Fatal(err)
	}
	return keptIn(pool), testkit.Pool(t, db.Admin)
}

// away makes a bench whose database refuses every connection.
func away(t testing.TB) option {
	t.Helper()
	return keptIn(testkit.Pool(t, "postgres://hub_rw:x@127.0.0.1:1/none"))
}

func keptIn(pool *pgxpool.Pool) option {
	store := postgres.New(pool)
	return func(_ *edge.Config, d *edge.Deps) {
		d.Pins, d.Streams, d.Clips, d.Links = store, store, store, store
		d.Broadcast.Spotlights, d.Broadcast.Tapes = store, store
		d.OnAir = newOnAir(d, store.OnAir(), onair.NoAudience{})
	}
}

// either is a database that can be switched away.
type either struct {
	up, away market.Pins
	down     *atomic.Bool
}

func (e either) now() market.Pins {
	if e.down.Load() {
		return e.away
	}
	return e.up
}

func (e either) Pins(ctx context.Context, limit int) ([]market.Pin, error) {
	return e.now().Pins(ctx, limit)
}

func (e either) Pin(ctx context.Context, p market.Pin) (market.Pin, error) {
	return e.now().Pin(ctx, p)
}

func (e either) Unpin(ctx context.Context, id syntax.MarketID) (bool, error) {
	return e.now().Unpin(ctx, id)
}
