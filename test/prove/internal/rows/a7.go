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
		n := env.Of(4000, 10_000, 10_000)
		ops, err := pool(ctx, env, "a7", n, 0)
		if err != nil {
			return nil, err
		}
		d := disputes{env: env, seen: seen, ops: ops}
		if err := d.chunked(ctx, n, env.Of(1, 3, 10)); err != nil {
			return nil, err
		}
		if err := d.whole(ctx, env.Of(0, 20, 100)); err != nil {
			return nil, err
		}
		if err := client.Rank(ctx, env.DB); err != nil {
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
	}
	return nil
}

// interrupt disputes a market whose scoring has begun, watches it stand still, and
// lets it go on.
func (d *disputes) interrupt(ctx context.Context, l *sideLedger, m large) error {
	claimed := make(chan client.Answer, 1)
	go func() { claimed <- d.env.Client.Finalize(ctx, l.hub.URL, d.env.Admin(), m.id, "NO") }()
	begun, err := frame.Until(ctx, 20*time.Second, func() (bool, error) {
		scored, err := d.results(ctx, m)
		return len(scored) > 0, err
	})
	if err != nil || !begun {
		return fmt.Errorf("no scoring of %s was seen: %w", m.id, err)
	}
	if err := d.env.Client.Dispute(ctx, l.hub.URL, d.env.Admin(), m.id, true).Into(200, nil); err != nil {
		return fmt.Errorf("dispute: %w", err)
	}
	before, err := d.results(ctx, m)
	if err != nil {
		return err
	}
	a := <-claimed
	d.seen.Check(a.Status == 200, "the claim was answered %s", a)
	d.env.Client.Scan(ctx, l.hub.URL, d.env.Admin()) // a scan finishes what a crash left, but not this
	d.env.Client.Scan(ctx, d.env.Hub(0), d.env.Admin())
	after, err := d.results(ctx, m)
	if err != nil {
		return err
	}
	d.seen.Check(len(before) < len(m.calls), "the dispute came after the whole scoring")
	d.late += len(after) - len(before)
	d.stopped = append(d.stopped, len(before))
	if err := d.clear(ctx, l, m); err != nil {
		return err
	}
	in, err := d.results(ctx, m)
	if err != nil {
		return err
	}
	for id, was := range before {
		d.seen.Check(in[id] == was, "the score of %s was %s before the dispute and is %s now", id, was, in[id])
	}
	return nil
}

// results are the rows of a market's results, by signal.
func (d *disputes) results(ctx context.Context, m large) (map[string]string, error) {
	rows, err := d.env.DB.Query(ctx, `SELECT r.signal_id::text, r::text FROM api.signal_results r
		JOIN api.signals s ON s.id = r.signal_id WHERE s.market_id = $1`, m.id)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	all := map[string]string{}
	for rows.Next() {
		var id, row string
		if err := rows.Scan(&id, &row); err != nil {
			return nil, err
		}
		all[id] = row
	}
	return all, rows.Err()
}

// clear ends the dispute, and wants every call scored.
func (d *disputes) clear(ctx context.Context, l *sideLedger, m large) error {
	if err := d.env.Client.Dispute(ctx, l.hub.URL, d.env.Admin(), m.id, false).Into(200, nil); err != nil {
		return fmt.Errorf("clear the dispute: %w", err)
	}
	if err := m.drained(ctx, d.env, l); err != nil {
		d.seen.Wrong("%v", err)
	}
	return d.count(ctx, m)
}

func (d *disputes) count(ctx context.Context, m large) error {
	right, _, err := m.right(ctx, d.env, "NO")
	d.markets, d.total, d.right = d.markets+1, d.total+len(m.calls), d.right+right
	return err
}

// whole lets a dispute race with a claim that scores in one transaction.
func (d *disputes) whole(ctx context.Context, markets int) error {
	const calls = 200
	for i := range markets {
		m, err := plantLarge(ctx, d.env, d.env.Rand(fmt.Sprint("A7 whole", i)), "A7", d.ops, calls)
		if err != nil {
			return err
		}
		if err := d.raceWhole(ctx, m); err != nil {
			return err
		}
	}
	return nil
}

func (d *disputes) raceWhole(ctx context.Context, m large) error {
	env := d.env
	var claim, ack client.Answer
	var atAck map[string]string
	var err error
	frame.AtOnce(2, func(i int) {
		if i == 0 {
			claim = env.Client.Finalize(ctx, env.Hub(0), env.Admin(), m.id, "NO")
			return
		}
		ack = env.Client.Dispute(ctx, env.Hub(1), env.Admin(), m.id, true)
		atAck, err = d.results(ctx, m)
	})
	if err == nil {
		err = ack.Into(200, nil)
	}
	if err != nil {
		return fmt.Errorf("dispute: %w", err)
	}
	after, err := d.results(ctx, m)
	if err != nil {
		return err
	}
	d.late += len(after) - len(atAck)
	first := claim.Status == 409 && claim.Code() == "market_disputed" && len(after) == 0
	d.seen.Check(first || claim.Status == 200 && len(after) == len(m.calls), "the claim was answered %s, and %d of %d are scored", claim, len(after), len(m.calls))
	if err := env.Client.Dispute(ctx, env.Hub(1), env.Admin(), m.id, false).Into(200, nil); err != nil {
		return fmt.Errorf("clear the dispute: %w", err)
	}
	if first {
		again := env.Client.Finalize(ctx, env.Hub(0), env.Admin(), m.id, "NO")
		d.seen.Check(again.Status == 200, "the claim after the dispute was answered %s", again)
	}
	return d.count(ctx, m)
}
