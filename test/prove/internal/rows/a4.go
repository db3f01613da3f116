package rows

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/anishathalye/porcupine"

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
		n, writers := env.Of(40, 100, 100), 200
		ids, err := markets(ctx, env, "A4", n)
		if err != nil {
			return nil, err
		}
		ops, err := pool(ctx, env, "a4", 500, 1)
		if err != nil {
			return nil, err
		}
		r := env.Rand("A4")
		acked, refusedN := map[string]bool{}, 0
		for i, id := range ids {
			m := marketRace{env: env, seen: seen, market: id, began: time.Now()}
			m.run(ctx, ops, i*writers, writers, time.Duration(r.IntN(40))*time.Millisecond)
			for _, signal := range m.acked {
				acked[signal] = true
			}
			refusedN += m.refused
		}
		if err := recordFits(ctx, env, seen, ids, acked); err != nil {
			return nil, err
		}
		seen.Figure("refused", refusedN)
		seen.Check(refusedN > 0 && len(acked) > 0, "%d taken, %d refused: the race was not close", len(acked), refusedN)
		seen.Volume("%s writes, %d claims", frame.Number(n*writers), n)
		return seen, nil
	},
}

// marketRace is one market, its writers and its claim.
type marketRace struct {
	env    *frame.Env
	seen   *frame.Seen
	market string
	began  time.Time

	mu      sync.Mutex
	acked   []string
	refused int
	history []porcupine.Operation
}

func (m *marketRace) run(ctx context.Context, ops []client.Operator, from, writers int, wait time.Duration) {
	frame.AtOnce(writers+1, func(i int) {
		if i == writers {
			time.Sleep(wait)
			a := m.env.Client.Finalize(ctx, m.env.Hub(i), m.env.Admin(), m.market, "YES")
			m.seen.Check(a.Status == 200, "the claim on %s was answered %s", m.market, a)
			m.note(i, "claim", a)
			return
		}
		op := ops[(from+i)%len(ops)]
		a := m.env.Client.File(ctx, m.env.Hub(i), op.Keys[0], client.Call{Market: m.market, Yes: i%2 == 0, Price: 5000})
		m.note(i, "write", a)
	})
	m.seen.Check(porcupine.CheckOperations(openMarket, m.history), "the answers on %s fit no moment of its claim", m.market)
}

func (m *marketRace) note(i int, what string, a client.Answer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	taken := a.Status == 200
	switch {
	case what == "claim":
	case taken:
		m.acked = append(m.acked, a.Text("id"))
	case a.Status == 409 && a.Code() == "market_closed":
		m.refused++
	default:
		m.seen.Wrong("a write was answered %s", a)
		return
	}
	m.history = append(m.history, porcupine.Operation{
		ClientId: i, Input: what, Output: taken, Call: int64(a.Began.Sub(m.began)), Return: int64(a.Ended.Sub(m.began)),
	})
}

// openMarket is what a market is to its writers: open until its claim.
var openMarket = porcupine.Model{
	Init: func() any { return true },
	Step: func(state, input, output any) (bool, any) {
		open, taken := state.(bool), output.(bool)
		if input == "claim" {
			return open && taken, false
		}
		return open == taken, open
	},
}

// recordFits compares the acknowledged calls with the record of the markets.
func recordFits(ctx context.Context, env *frame.Env, seen *frame.Seen, ids []string, acked map[string]bool) error {
	rows, err := env.DB.Query(ctx, `SELECT s.id::text, r.signal_id IS NOT NULL FROM api.signals s
		LEFT JOIN api.signal_results r ON r.signal_id = s.id WHERE s.market_id = ANY ($1)`, ids)
	if err != nil {
		return err
	}
	defer rows.Close()
	stored, scored, ghosts := 0, 0, 0
	for rows.Next() {
		var id string
		var done bool
		if err := rows.Scan(&id, &done); err != nil {
			return err
		}
		stored++
		if done {
			scored++
		}
		if !acked[id] {
			ghosts++
		}
	}
	seen.Check(ghosts == 0, "%d calls on record were never acknowledged", ghosts)
	seen.Check(stored-ghosts == len(acked), "%d acknowledged calls are not on record", len(acked)-stored+ghosts)
	seen.Check(scored == stored, "%d calls stay pending on resolved markets", stored-scored)
	seen.Promise("accepted = scored, pending 0, ghosts 0",
		fmt.Sprintf("accepted %s = scored %s, pending %d, ghosts %d", frame.Number(len(acked)), frame.Number(scored), stored-scored, ghosts))
	return rows.Err()
}
