package e2e

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"
)

// storm is load on the front door: some people file on many markets while others
// read. It notes every answer.
type storm struct {
	t       testing.TB
	s       *stack
	people  []*person
	markets []string
	stop    chan struct{}
	running sync.WaitGroup

	mu    sync.Mutex
	filed map[[2]int]string // by person and market: the id that was acknowledged
	seen  map[string]int    // answers by what they were
	from  map[string]int    // as it was when more was first asked
	wrong []string
}

const (
	stormPeople  = 4
	stormMarkets = 50
)

// begin starts the load; writes and reads are judged by allow.
func (s *stack) begin(t testing.TB, allow func(kind string, a *answer) bool) *storm {
	t.Helper()
	st := &storm{t: t, s: s, stop: make(chan struct{}), filed: map[[2]int]string{}, seen: map[string]int{}}
	for range stormPeople {
		p := s.person(t)
		for range 4 { // for calls, for those that are refused, and to settle
			key, _ := p.mint(t, "storm")
			p.spare = append(p.spare, key)
		}
		st.people = append(st.people, p)
	}
	for range stormMarkets {
		st.markets = append(st.markets, s.native(t, 5000))
	}
	for i := range st.people {
		st.running.Go(func() { st.write(i, allow) })
	}
	st.running.Go(func() { st.read(allow) })
	return st
}

// note keeps what an answer was and whether it was one that may be given.
func (st *storm) note(kind string, a *answer, err error, allow func(string, *answer) bool) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if err != nil {
		st.seen[kind+" no connection"]++
		st.wrong = append(st.wrong, kind+": "+err.Error())
		return
	}
	what := fmt.Sprint(kind, " ", a.status, " ", errorCode(a.body), a.header.Get("X-Degraded"))
	st.seen[what]++
	if !allow(kind, a) {
		st.wrong = append(st.wrong, what+" "+string(a.body[:min(200, len(a.body))]))
	}
}

// write files each call until somebody says that it stands.
func (st *storm) write(person int, allow func(string, *answer) bool) {
	pause := 20 * time.Millisecond // a caller's own pace
	for market := 0; market < len(st.markets); {
		select {
		case <-st.stop:
			return
		case <-time.After(pause):
		}
		a, err := st.file(person, market)
		st.note("file", a, err, func(kind string, a *answer) bool { return a.status == http.StatusConflict || allow(kind, a) })
		if pause = 100 * time.Millisecond; err != nil {
			continue
		}
		var id string
		switch {
		case a.status == http.StatusOK:
			id, pause = a.str("id"), 20*time.Millisecond
		case errorCode(a.body) == "already_predicted": // the answer of before was lost
			id = a.str("id")
		default:
			continue
		}
		st.keep(person, market, id)
		market++
	}
}

func (st *storm) file(person, market int) (*answer, error) {
	p := st.people[person]
	return try(st.t, http.MethodPost, st.s.Hub+"/api/predictions", p.auth(st.t), payload(obj{
		"marketId": st.markets[market], "direction": "YES", "priceAtPrediction": 5000,
	}))
}

func (st *storm) keep(person, market int, id string) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.filed[[2]int{person, market}] = id
}

// read asks for lists, which never fail, and for single things.
func (st *storm) read(allow func(string, *answer) bool) {
	for i := 0; ; i++ {
		select {
		case <-st.stop:
			return
		case <-time.After(10 * time.Millisecond):
		}
		kind, path := "list", ""
		switch i % 6 {
		case 0:
			path = "/api/signals/feed?limit=" + itoa(int64(i%50+1))
		case 1:
			path = "/api/m/" + st.markets[i%stormMarkets] + "/signals"
		case 2:
			path = "/api/operator/leaderboard?limit=" + itoa(int64(i%100+1))
		case 3:
			path = "/api/m/" + st.markets[i%stormMarkets] + "/crowd"
		case 4:
			kind, path = "programme", "/api/network/program?limit="+itoa(int64(i%400+1))
		case 5:
			kind, path = "one", "/api/m/"+st.markets[i%stormMarkets]
		}
		a, err := try(st.t, http.MethodGet, st.s.Hub+path)
		st.note(kind, a, err, allow)
	}
}

// end stops the load and demands that nothing went wrong that must not.
func (st *storm) end() {
	st.t.Helper()
	close(st.stop)
	st.running.Wait()
	for i, w := range st.wrong {
		if i == 10 {
			st.t.Errorf("and %d more", len(st.wrong)-i)
			break
		}
		st.t.Error(w)
	}
	st.t.Log(st.seen)
}

// settle files again what got no answer, and finds every acknowledged call with
// the id that was given, once for each person and market.
func (st *storm) settle() {
	st.t.Helper()
	for person := range st.people {
		for market := range st.markets {
			id := st.filed[[2]int{person, market}]
			a, err := st.file(person, market)
			if err != nil {
				st.t.Fatal(err)
			}
			switch {
			case id == "" && a.status == http.StatusOK:
				st.keep(person, market, a.str("id"))
			case a.status != http.StatusConflict || errorCode(a.body) != "already_predicted":
				st.t.Errorf("filed again: %d %s", a.status, a.body)
			case id != "" && a.str("id") != id:
				st.t.Errorf("%s was acknowledged, %s stands", id, a.str("id"))
			}
		}
	}
	want := itoa(int64(len(st.people) * len(st.markets)))
	if got := st.s.row(st.t, "SELECT count(*)::text FROM api.signals WHERE market_id = ANY($1)", st.markets); got != want {
		st.t.Errorf("%s calls stand, want %s", got, want)
	}
}

// count is how often an answer was given.
func (st *storm) count(what string) int {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.seen[what]
}

// more waits for further answers of a kind, counted from the first time it is
// asked.
func (st *storm) more(what string, n int) bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.from == nil {
		st.from = map[string]int{}
	}
	from, asked := st.from[what]
	if !asked {
		st.from[what] = st.seen[what]
		return false
	}
	return st.seen[what] >= from+n
}
