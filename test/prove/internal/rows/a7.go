package rows

import (
	"context"
	"fmt"
	"time"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
)

// a7 disputes markets while they are being scored: in chunks of a thousand, where
// a dispute comes between two chunks, and in one transaction, where it comes before
// or after all of it.
var a7 = frame.Row{
	ID: "A7", Title: "a dispute stops scoring at its acknowledgement",
	Fault: frame.Fault{What: "a chunk does not look at the dispute"},
	Run: func(ctx context.Context, env *frame.Env) (*frame.Seen, error) {
		seen := frame.NewSeen()
		n := env.Of(6000, 10_000, 10_000)
		ops, err := pool(ctx, env, "a7", n, 0)
		if err != nil {
			return nil, err
		}
		d := disputes{env: env, seen: seen, ops: ops}
		if err := d.chunked(ctx, n, env.Of(1, 3, 10)); err != nil {
			return nil, err
		}
		if err := d.whole(ctx, env.Of(1, 20, 100)); err != nil {
			return nil, err
		}
		wrong, err := scoresMatch(ctx, env, ops)
		if err != nil {
			return nil, err
		}
		seen.Check(wrong == 0, "%d operators' scores are not the sum of their results", wrong)
		seen.Figure("stoppedAfter", d.stopped)
		seen.Volume("%s signals on %d markets", frame.Number(d.total), d.markets)
		seen.Promise(fmt.Sprintf("after the acknowledgement 0, after clearing %s", frame.Number(d.total)),
			fmt.Sprintf("after the acknowledgement %d, after clearing %s", d.late, frame.Number(d.right)))
		seen.Check(d.late == 0 && d.right == d.total, "%d scored too late, %d of %d right in the end", d.late, d.right, d.total)
		return seen, nil
	},
}

type disputes struct {
	env  *frame.Env
	seen *frame.Seen
	ops  []client.Operator

	markets, total, right, late int
	stopped                     []int // how far each scoring had come
}

// chunked disputes large markets between two of their chunks.
func (d *disputes) chunked(ctx context.Context, n, markets int) error {
	l, err := startSide(ctx, d.env, map[string]string{"RESOLVE_CHUNK": "1000"})
	if err != nil {
		return err
	}
	defer l.stop()
	for range markets {
		m, err := plantLarge(ctx, d.env, d.env.Rand(fmt.Sprint("A7", d.markets)), "A7", d.ops, n)
		if err != nil {
			return err
		}
		if err := d.interrupt(ctx, l, m); err != nil {
			return err
		}
		if err := d.clear(ctx, l, m, n); err != nil {
			return err
		}
	}
	return nil
}

const countResults = `SELECT count(*)::integer FROM api.signal_results r JOIN api.signals s ON s.id = r.signal_id WHERE s.market_id = $1`

// interrupt disputes a market whose scoring has begun, and watches it stand still.
func (d *disputes) interrupt(ctx context.Context, l *sideLedger, m large) error {
	claimed := make(chan client.Answer, 1)
	go func() { claimed <- d.env.Client.Finalize(ctx, l.hub.URL, d.env.Admin(), m.id, "NO") }()
	if _, err := frame.Until(ctx, 20*time.Second, func() (bool, error) {
		scored, err := d.env.Count(ctx, countResults, m.id)
		return scored > 0, err
	}); err != nil {
		return err
	}
	ack := d.env.Client.Dispute(ctx, l.hub.URL, d.env.Admin(), m.id, true)
	if err := ack.Into(200, nil); err != nil {
		return fmt.Errorf("dispute: %w", err)
	}
	before, err := d.env.Count(ctx, countResults, m.id)
	if err != nil {
		return err
	}
	earlier, err := d.earlier(ctx, m, ack.Ended)
	if err != nil {
		return err
	}
	a := <-claimed
	d.seen.Check(a.Status == 200, "the claim was answered %s", a)
	d.env.Client.Scan(ctx, l.hub.URL, d.env.Admin()) // would finish what a crash left
	d.env.Client.Scan(ctx, d.env.Hub(0), d.env.Admin())
	after, err := d.env.Count(ctx, countResults, m.id)
	if err != nil {
		return err
	}
	again, err := d.earlier(ctx, m, ack.Ended)
	if err != nil {
		return err
	}
	d.seen.Check(before < len(m.calls), "the dispute came after the whole scoring")
	d.seen.Check(earlier == again, "scores given before the dispute have changed")
	d.late += after - before
	d.stopped = append(d.stopped, before)
	return nil
}

// earlier is a hash over the results that stood at the dispute.
func (d *disputes) earlier(ctx context.Context, m large, _ time.Time) (string, error) {
	return d.env.Text(ctx, `SELECT coalesce(md5(string_agg(r::text, '' ORDER BY r.signal_id)), '') FROM api.signal_results r
		JOIN api.signals s ON s.id = r.signal_id WHERE s.market_id = $1`, m.id)
}

// clear ends the dispute, and wants every call scored.
func (d *disputes) clear(ctx context.Context, l *sideLedger, m large, n int) error {
	if err := d.env.Client.Dispute(ctx, l.hub.URL, d.env.Admin(), m.id, false).Into(200, nil); err != nil {
		return fmt.Errorf("clear the dispute: %w", err)
	}
	if err := m.drained(ctx, d.env, l); err != nil {
		d.seen.Wrong("%v", err)
	}
	right, _, err := m.right(ctx, d.env, "NO")
	d.markets, d.total, d.right = d.markets+1, d.total+n, d.right+right
	return err
}
