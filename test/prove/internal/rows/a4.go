package rows

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
)

// a4 races many writers with one claim on each market. Whoever was taken must be
// scored, whoever was refused must not be there, and every answer must fit one
// moment of the claim.
var a4 = frame.Row{
	ID: "A4", Title: "a write either is scored or is refused",
	Fault: frame.Fault{What: "a call is filed without the lock on its market"},
	Run: func(ctx context.Context, env *frame.Env) (*frame.Seen, error) {
		seen := frame.NewSeen()
		n, writers := env.Of(15, 100, 100), 200
		ids, err := markets(ctx, env, "A4", n)
		if err != nil {
			return nil, err
		}
		ops, err := pool(ctx, env, "a4", 500, 1)
		if err != nil {
			return nil, err
		}
		r := env.Rand("A4")
		h := filings{acked: map[string]bool{}, doubt: map[string]bool{}}
		for i, id := range ids {
			m := marketRace{env: env, seen: seen, market: id, filings: &h}
			m.run(ctx, ops, i*writers, writers, time.Duration(r.IntN(40))*time.Millisecond)
		}
		if err := recordFits(ctx, env, seen, ids, &h); err != nil {
			return nil, err
		}
		seen.Figure("refused", h.refused)
		seen.Figure("inDoubt", len(h.doubt))
		seen.Check(h.refused > 0 && len(h.acked) > 0, "%d taken, %d refused: the race was not close", len(h.acked), h.refused)
		seen.Volume("%s writes, %d claims", frame.Number(n*writers), n)
		return seen, nil
	},
}

// filings is what the writers of all markets heard.
type filings struct {
	mu      sync.Mutex
	acked   map[string]bool // by signal
	doubt   map[string]bool // by market and operator: a busy system may say 503
	refused int
}

// marketRace is one market, its writers and its claim.
type marketRace struct {
	*filings
	env    *frame.Env
	seen   *frame.Seen
	market string
	// The claim took effect at one moment: not before after, not behind before.
	after, before time.Time
}

func (m *marketRace) run(ctx context.Context, ops []client.Operator, from, writers int, wait time.Duration) {
	frame.AtOnce(writers+1, func(i int) {
		if i == writers {
			time.Sleep(wait)
			a := m.env.Client.Finalize(ctx, m.env.Hub(i), m.env.Admin(), m.market, "YES")
			m.seen.Check(a.Status == 200, "the claim on %s was answered %s", m.market, a)
			m.mu.Lock()
			m.fits(a.Began, a.Ended)
			m.mu.Unlock()
			return
		}
		op := ops[(from+i)%len(ops)]
		m.note(op.ID, m.env.Client.File(ctx, m.env.Hub(i+from/writers), op.Keys[0], client.Call{Market: m.market, Yes: i%2 == 0, Price: 5000}))
	})
	m.seen.Check(!m.after.After(m.before), "the answers on %s fit no moment of its claim", m.market)
}

func (m *marketRace) note(user string, a client.Answer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case a.Status == 200:
		m.fits(a.Began, time.Time{}) // taken: the claim was not over when it was sent
		m.acked[a.Text("id")] = true
	case a.Status == 409 && a.Code() == "market_closed":
		m.fits(time.Time{}, a.Ended) // refused: the claim had happened when it was answered
		m.refused++
	case a.Err != nil || a.Status == 503:
		m.doubt[m.market+user] = true
	default:
		m.seen.Wrong("a write was answered %s", a)
	}
}

// fits narrows the moment of the claim. Each answer leaves a half-line, so that
// some moment is left exactly when the history is linearizable.
func (m *marketRace) fits(after, before time.Time) {
	if after.After(m.after) {
		m.after = after
	}
	if !before.IsZero() && (m.before.IsZero() || before.Before(m.before)) {
		m.before = before
	}
}

// recordFits compares what the writers heard with the record of the markets.
func recordFits(ctx context.Context, env *frame.Env, seen *frame.Seen, ids []string, h *filings) error {
	rows, err := env.DB.Query(ctx, `SELECT s.id::text, s.market_id || s.user_id::text, r.signal_id IS NOT NULL, s.created_at > o.resolved_at
		FROM api.signals s JOIN api.market_resolutions o ON o.market_id = s.market_id
		LEFT JOIN api.signal_results r ON r.signal_id = s.id WHERE s.market_id = ANY ($1)`, ids)
	if err != nil {
		return err
	}
	defer rows.Close()
	stored, acked, scored, ghosts, late := 0, 0, 0, 0, 0
	for rows.Next() {
		var id, whose string
		var done, after bool
		if err := rows.Scan(&id, &whose, &done, &after); err != nil {
			return err
		}
		stored++
		if done {
			scored++
		}
		if after {
			late++
		}
		switch {
		case h.acked[id]:
			acked++
		case !h.doubt[whose]:
			ghosts++
		}
	}
	seen.Check(ghosts == 0, "%d calls on record were refused", ghosts)
	seen.Check(acked == len(h.acked), "%d acknowledged calls are not on record", len(h.acked)-acked)
	seen.Check(scored == stored, "%d calls stay pending on resolved markets", stored-scored)
	seen.Check(late == 0, "%d calls are younger than the outcome they are scored by", late)
	seen.Promise("accepted = scored, pending 0, ghosts 0, late 0",
		fmt.Sprintf("accepted %s = scored %s, pending %d, ghosts %d, late %d", frame.Number(stored), frame.Number(scored), stored-scored, ghosts, late))
	return rows.Err()
}
