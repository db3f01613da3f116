package rows

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
)

// a8 lets clients write and read through both hubs in turn and asks whether their
// history fits a single ledger in which the first call locks and every read sees it.
var a8 = frame.Row{
	ID: "A8", Title: "reads follow writes through either hub",
	Fault: frame.Fault{
		What: "a call is seen 300 ms after it was taken",
		SQL: `DO $$ BEGIN EXECUTE 'CREATE OR REPLACE VIEW api.signal_records AS ' || rtrim(pg_get_viewdef('api.signal_records'), ';') ||
			' WHERE s.created_at < clock_timestamp() - interval ''300 milliseconds'''; END $$`,
	},
	Run: func(ctx context.Context, env *frame.Env) (*frame.Seen, error) {
		seen := frame.NewSeen()
		ops, err := pool(ctx, env, "a8", 25, 2)
		if err != nil {
			return nil, err
		}
		ids, err := markets(ctx, env, "A8", 20)
		if err != nil {
			return nil, err
		}
		clients, each := 50, env.Of(30, 100, 100)
		h := calls{env: env, seen: seen, ops: ops, markets: ids, began: time.Now(), doubt: map[pair]bool{}}
		frame.AtOnce(clients, func(i int) { h.client(ctx, i, each, rand.New(rand.NewPCG(env.Seed, uint64(i)))) })
		began := time.Now()
		result := porcupine.CheckOperationsTimeout(firstCallLocks, h.certain(), 30*time.Second)
		seen.Figure("checked", time.Since(began))
		seen.Figure("inDoubt", len(h.doubt))
		seen.Volume("%s operations of %d clients", frame.Number(h.n), clients)
		seen.Promise("linearizable: Ok", "linearizable: "+string(result))
		seen.Check(result == porcupine.Ok, "the history fits no order of one ledger")
		seen.Check(h.n > clients*each*9/10, "only %d of %d operations were answered", h.n, clients*each)
		return seen, nil
	},
}

// pair is one operator on one market: the unit that locks.
type pair struct{ market, handle string }

// step is what a client did to a pair.
type step struct {
	pair
	write bool
}

// heard is the answer: the call that stands now, empty for none; first says that
// it is the client's own and was taken.
type heard struct {
	id    string
	first bool
}

// firstCallLocks is a pair as its clients may see it.
var firstCallLocks = porcupine.Model{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		parts := map[pair][]porcupine.Operation{}
		for _, op := range history {
			p := op.Input.(step).pair
			parts[p] = append(parts[p], op)
		}
		list := make([][]porcupine.Operation, 0, len(parts))
		for _, part := range parts {
			list = append(list, part)
		}
		return list
	},
	Init: func() any { return "" },
	Step: func(state, input, output any) (bool, any) {
		stands, got := state.(string), output.(heard)
		if input.(step).write && got.first {
			return stands == "", got.id
		}
		return got.id == stands, stands
	},
}

// calls is the history of all clients.
type calls struct {
	env     *frame.Env
	seen    *frame.Seen
	ops     []client.Operator
	markets []string
	began   time.Time

	mu    sync.Mutex
	n     int
	list  []porcupine.Operation
	doubt map[pair]bool // a write had no answer: nothing can be said of the pair
}

func (h *calls) note(who int, s step, a client.Answer, got heard) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.list = append(h.list, porcupine.Operation{
		ClientId: who, Input: s, Output: got, Call: int64(a.Began.Sub(h.began)), Return: int64(a.Ended.Sub(h.began)),
	})
}

// certain leaves out the pairs that are in doubt.
func (h *calls) certain() []porcupine.Operation {
	var list []porcupine.Operation
	for _, op := range h.list {
		if !h.doubt[op.Input.(step).pair] {
			list = append(list, op)
		}
	}
	return list
}

func (h *calls) client(ctx context.Context, who, n int, r *rand.Rand) {
	op := h.ops[who%len(h.ops)]
	key := op.Keys[who/len(h.ops)]
	var own []pair
	id := map[pair]string{}
	for i := range n {
		p := pair{h.markets[r.IntN(len(h.markets))], op.Handle}
		hub := h.env.Hub(who + i)
		switch what := r.IntN(4); {
		case what < 2:
			if taken := h.write(ctx, who, hub, key, p, r.IntN(2) == 0); taken != "" {
				own, id[p] = append(own, p), taken
			}
		case what == 2 && len(own) > 0:
			p = own[r.IntN(len(own))]
			h.readOne(ctx, who, hub, p, id[p])
		default:
			h.readMarket(ctx, who, hub, p.market)
		}
	}
}

// write files a call and gives its id when it was taken.
func (h *calls) write(ctx context.Context, who int, hub string, key client.Key, p pair, yes bool) string {
	a := h.env.Client.File(ctx, hub, key, client.Call{Market: p.market, Yes: yes, Price: 5000})
	h.mu.Lock()
	h.n++
	if a.Err != nil || a.Status == 503 || a.Status == 429 {
		h.doubt[p] = h.doubt[p] || a.Status != 429
		h.mu.Unlock()
		return ""
	}
	h.mu.Unlock()
	h.seen.Check(a.Status == 200 || a.Code() == "already_predicted", "a write was answered %s", a)
	got := heard{id: a.Text("id"), first: a.Status == 200}
	h.note(who, step{p, true}, a, got)
	if got.first {
		return got.id
	}
	return ""
}

func (h *calls) readOne(ctx context.Context, who int, hub string, p pair, id string) {
	a := h.env.Client.Do(ctx, client.Request{URL: hub + "/api/signals/" + id})
	if a.Err != nil || a.Status == 503 {
		return
	}
	h.mu.Lock()
	h.n++
	h.mu.Unlock()
	h.note(who, step{pair: p}, a, heard{id: a.Text("id")}) // a 404 has none
}

// readMarket reads all calls of a market, and so of each pair on it.
func (h *calls) readMarket(ctx context.Context, who int, hub, market string) {
	a := h.env.Client.Do(ctx, client.Request{URL: hub + "/api/m/" + market + "/signals?limit=500"})
	var out struct {
		Signals []struct{ ID, Callsign string }
	}
	if a.Err != nil || a.Header.Get("X-Degraded") != "" || a.Into(200, &out) != nil {
		return
	}
	h.mu.Lock()
	h.n++
	h.mu.Unlock()
	stands := map[string]string{}
	for _, s := range out.Signals {
		stands[s.Callsign] = s.ID
	}
	for _, op := range h.ops {
		h.note(who, step{pair: pair{market, op.Handle}}, a, heard{id: stands[op.Handle]})
	}
}
