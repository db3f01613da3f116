package httpapi_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/services/api/internal/feed"
	"github.com/signalcast/signalcast/services/api/internal/httpapi"
)

// TestSinceSpelling checks that a number in since applies to a channel if since and channels contain different spellings of the
// same name.
func TestSinceSpelling(t *testing.T) {
	t.Parallel()
	b := setup(t, options{memory: 100})
	b.market("1", "OTHER")
	b.key("Mara_K")
	b.exec(`INSERT INTO api.outbox (type, market_id, user_id, at) SELECT 'clip.ready', '1', id, now() FROM api.users WHERE handle = 'mara_k'`)
	b.fact("market.status", "1", 1)
	b.head(2)
	for channel, named := range map[string]string{"operator:MARA_K": "operator:mara_k", "operator:mara_k": "operator:Mara_K", "operator:Mara_k": "operator:Mara_k"} {
		c := b.socket()
		c.send(`{"op":"subscribe","channels":["` + channel + `"],"since":{"market:1":9,"` + named + `":0}}`)
		c.next()
		c.next() // the snapshot
		if f := c.next(); f.seq() != 1 || f["channel"] != "operator:mara_k" {
			t.Errorf("%s with a since for %s: %v", channel, named, f)
		}
	}
}

// unavailableCopies is a store that cannot read the states of channels until back is true.
type unavailableCopies struct {
	feed.Store
	back *atomic.Bool
}

func (a unavailableCopies) FindCopy(ctx context.Context, c feed.Channel) (feed.Copy, bool, error) {
	if !a.back.Load() {
		return feed.Copy{}, false, pg.ErrUnavailable
	}
	return a.Store.FindCopy(ctx, c)
}

// TestDeferredSnapshot checks that the client receives an error frame for a snapshot that cannot be read, and later the
// snapshot. Events must not wait for it.
func TestDeferredSnapshot(t *testing.T) {
	t.Parallel()
	var back atomic.Bool
	b := setup(t, options{memory: 100, change: func(d *httpapi.Deps) { d.Feed = unavailableCopies{d.Feed, &back} }})
	b.traded("1", "OTHER")
	c := b.socket()
	c.send(`{"op":"subscribe","id":"s","channels":["live","market:1"]}`)
	c.want(frame{"op": "ack", "id": "s", "channels": []any{"live", "market:1"}},
		frame{
			"op": "error", "id": "s", "error": "db_unavailable", "message": "the database is unavailable; retry in 1 s", "channel": "live",
		},
		frame{"op": "snapshot", "channel": "market:1", "seq": 0.0, "data": marketState()})
	b.fact("market.status", "1", 1)
	if f := c.next(); f.seq() != 1 {
		t.Errorf("before the snapshot: %v", f)
	}
	back.Store(true)
	c.want(frame{"op": "snapshot", "channel": "live", "seq": 1.0, "data": map[string]any{"live": []any{}, "recent": []any{}}})
	// A client that disconnects while a snapshot is deferred leaves no goroutine behind; TestMain checks for leaks.
	back.Store(false)
	c.send(`{"op":"subscribe","id":"s","channels":["overlay:mara"]}`)
	c.next()
	if f := c.next(); f["op"] != "error" {
		t.Errorf("got frame %v, want an error", f)
	}
}
