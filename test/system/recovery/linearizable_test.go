package recovery

import (
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/signalcast/signalcast/test/system/stack"
)

// request is a request of a client about one pair of operator and market. It files a call if file is true, and otherwise reads
// the calls.
type request struct {
	stack.Pair
	file bool
}

// result is the result of a request for one pair. id is the id of the call in the answer, or empty if the answer contains none.
// stored is true if the request filed this call and was accepted.
type result struct {
	id     string
	stored bool
}

// oneCallPerPair is a model of a ledger: the first call of a pair is final, and every later read returns it.
var oneCallPerPair = porcupine.Model{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		byPair := map[stack.Pair][]porcupine.Operation{}
		for _, op := range history {
			p := op.Input.(request).Pair
			byPair[p] = append(byPair[p], op)
		}
		parts := make([][]porcupine.Operation, 0, len(byPair))
		for _, part := range byPair {
			parts = append(parts, part)
		}
		return parts
	},
	Init: func() any { return "" },
	Step: func(state, input, output any) (bool, any) {
		id, got := state.(string), output.(result)
		if input.(request).file && got.stored {
			return id == "", got.id
		}
		return got.id == id, id
	},
}

// history records the requests and answers of all clients.
type history struct {
	s         *stack.Stack
	operators []*stack.Operator
	markets   []string
	start     time.Time

	mu         sync.Mutex
	answered   int
	operations []porcupine.Operation
	inDoubt    map[stack.Pair]bool // pairs with an unanswered call, whose state is therefore unknown
}

// TestReadsFollowWrites sends requests of 50 clients, which file and read calls, to two hubs. The answers must be linearizable:
// a single ledger could have given them.
func TestReadsFollowWrites(t *testing.T) {
	s := exclusive(t)
	h := history{s: s, operators: s.SeedOperators(t, 25), start: time.Now(), inDoubt: map[stack.Pair]bool{}}
	for range 20 {
		h.markets = append(h.markets, s.NewNativeMarket(t, 5000, nil))
	}
	const clients = 50
	// A key may send 60 requests per minute, and two clients share a key.
	requests := stack.Size(t, 30, 50, 50)
	stack.AtOnce(clients, func(client int) { h.run(t, client, requests) })

	var certain []porcupine.Operation
	for _, op := range h.operations {
		if !h.inDoubt[op.Input.(request).Pair] {
			certain = append(certain, op)
		}
	}
	if got := porcupine.CheckOperationsTimeout(oneCallPerPair, certain, 30*time.Second); got != porcupine.Ok {
		t.Errorf("the check whether one ledger could have given the %d answers returned %s; want %s", len(certain), got, porcupine.Ok)
	}
	if h.answered < clients*requests*9/10 {
		t.Errorf("%d of %d requests were answered; want at least 90%%", h.answered, clients*requests)
	}
}

// run sends n requests of one client to the hubs: calls, reads of one of its calls, and reads of all calls on a market.
func (h *history) run(t *testing.T, client, n int) {
	o := h.operators[client%len(h.operators)]
	r := rand.New(rand.NewPCG(1, uint64(client)))
	own := map[stack.Pair]string{}
	for i := range n {
		hub, p := h.s.HubAt(client+i), stack.Pair{Market: h.markets[r.IntN(len(h.markets))], Operator: o.ID}
		switch r.IntN(4) {
		case 0, 1:
			if id := h.file(t, client, hub, o, p, r.IntN(2) == 0); id != "" {
				own[p] = id
			}
		case 2:
			for p, id := range own { // an arbitrary call
				h.readCall(t, client, hub, o, p, id)
				break
			}
		default:
			h.readMarket(t, client, hub, o, p.Market)
		}
	}
}

// do sends a request and records its answer. read converts the answer to results for pairs, or to none if the answer must be
// ignored.
func (h *history) do(t *testing.T, client int, o *stack.Operator, method, url string, sets []stack.Set, read func(a stack.Answer, err error) map[request]result) {
	sent := time.Since(h.start)
	a, err := o.Try(t, method, url, sets...)
	received := time.Since(h.start)
	results := read(a, err)
	h.mu.Lock()
	defer h.mu.Unlock()
	if results != nil {
		h.answered++
	}
	for in, out := range results {
		h.operations = append(h.operations, porcupine.Operation{ClientId: client, Input: in, Output: out, Call: int64(sent), Return: int64(received)})
	}
}

// file files a call and returns its id if the call was accepted.
func (h *history) file(t *testing.T, client int, hub string, o *stack.Operator, p stack.Pair, yes bool) (accepted string) {
	side := "NO"
	if yes {
		side = "YES"
	}
	sets := []stack.Set{stack.Bearer(o.Key), stack.Body(stack.Call(p.Market, side, 5000))}
	h.do(t, client, o, http.MethodPost, hub+"/api/predictions", sets, func(a stack.Answer, err error) map[request]result {
		switch {
		case err == nil && a.Status == http.StatusTooManyRequests:
			return nil
		case err != nil || a.Status == http.StatusServiceUnavailable:
			h.mu.Lock()
			defer h.mu.Unlock()
			h.inDoubt[p] = true
			return nil
		case a.Status == http.StatusOK:
			accepted = a.Text("id")
			return map[request]result{{p, true}: {accepted, true}}
		case a.Code() != "already_predicted":
			t.Errorf("a call was answered %d; want 200, or an error that refuses a second call: %.300s", a.Status, a.Body)
			return nil
		}
		return map[request]result{{p, true}: {id: a.Text("id")}}
	})
	return accepted
}

func (h *history) readCall(t *testing.T, client int, hub string, o *stack.Operator, p stack.Pair, id string) {
	h.do(t, client, o, http.MethodGet, hub+"/api/signals/"+id, nil, func(a stack.Answer, err error) map[request]result {
		switch {
		case err != nil || a.Status == http.StatusServiceUnavailable || a.Status == http.StatusTooManyRequests:
			return nil
		case a.Status != http.StatusOK: // the answer does not contain the call
			return map[request]result{{Pair: p}: {}}
		}
		return map[request]result{{Pair: p}: {id: a.Text("id")}}
	})
}

// readMarket reads the calls on a market. It records the answer as one read for each operator.
func (h *history) readMarket(t *testing.T, client int, hub string, o *stack.Operator, market string) {
	h.do(t, client, o, http.MethodGet, hub+"/api/m/"+market+"/signals?limit=500", nil, func(a stack.Answer, err error) map[request]result {
		if err != nil || a.Status != http.StatusOK || a.Header.Get("X-Degraded") != "" {
			return nil
		}
		byHandle := map[string]string{}
		for _, v := range a.List("signals") {
			call := v.(map[string]any)
			byHandle[call["callsign"].(string)] = call["id"].(string)
		}
		results := map[request]result{}
		for _, o := range h.operators {
			results[request{Pair: stack.Pair{Market: market, Operator: o.ID}}] = result{id: byHandle[o.Handle]}
		}
		return results
	})
}

// TestModelRejectsStaleReads checks that the model rejects a stale read.
func TestModelRejectsStaleReads(t *testing.T) {
	t.Parallel()
	p := stack.Pair{Market: "m", Operator: "o"}
	for read, fits := range map[string]bool{"one": true, "": false, "two": false} {
		got := porcupine.CheckOperations(oneCallPerPair, []porcupine.Operation{
			{Input: request{p, true}, Output: result{"one", true}, Call: 0, Return: 10},
			{Input: request{p, true}, Output: result{"one", false}, Call: 5, Return: 20},
			{Input: request{Pair: p}, Output: result{id: read}, Call: 11, Return: 30},
		})
		if got != fits {
			t.Errorf("a read of %q fits the model: %v; want %v", read, got, fits)
		}
	}
}
