package e2e

import (
	"crypto/rand"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// person is somebody with a login, and keys as needed.
type person struct {
	s           *stack
	user, token string

	mu    sync.Mutex
	key   string
	uses  int
	spare []string // keys that were not used yet
}

var (
	people atomic.Int64
	runID  = strings.ToLower(rand.Text()[:6])
)

// person gives somebody whom the system has never seen.
func (s *stack) person(t testing.TB) *person {
	t.Helper()
	return s.named(t, "e2e_"+runID+"_"+strconv.FormatInt(people.Add(1), 10))
}

func (s *stack) named(t testing.TB, user string) *person {
	t.Helper()
	token := post(t, s.IDP+"/mint", payload(obj{"user": user})).is(http.StatusOK).str("token")
	return &person{s: s, user: user, token: token}
}

// login is the identity token.
func (p *person) login() option { return bearer(p.token) }

// mint makes a key and gives its plaintext and id.
func (p *person) mint(t testing.TB, label string) (key, id string) {
	t.Helper()
	a := post(t, p.s.Hub+"/api/dev/keys", p.login(), payload(obj{"label": label})).is(http.StatusCreated)
	return a.str("key"), a.str("id")
}

// usesOfKey is how often a key is used before another one takes its place: a key
// has sixty requests a minute.
const usesOfKey = 50

// auth is a key of this person within its limit.
func (p *person) auth(t testing.TB) option {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.uses++; p.key == "" || p.uses > usesOfKey {
		if len(p.spare) > 0 {
			p.key, p.spare = p.spare[0], p.spare[1:]
		} else {
			p.key, _ = p.mint(t, "e2e")
		}
		p.uses = 1
	}
	return bearer(p.key)
}

// file files a call with the members given beside the three that are needed.
func (p *person) file(t testing.TB, market, side string, price int, more ...obj) *answer {
	t.Helper()
	body := obj{"marketId": market, "direction": side, "priceAtPrediction": price}
	for _, m := range more {
		for name, v := range m {
			body[name] = v
		}
	}
	return post(t, p.s.Hub+"/api/predictions", p.auth(t), payload(body))
}

// call files a call that must be taken.
func (p *person) call(t testing.TB, market, side string, price int, more ...obj) string {
	t.Helper()
	a := p.file(t, market, side, price, more...)
	if a.again && errorCode(a.body) == "already_predicted" {
		return a.str("id") // the answer of before was lost
	}
	return a.is(http.StatusOK).str("id")
}

// native opens a market of the service's own.
func (s *stack) native(t testing.TB, initialYes int, more ...obj) string {
	t.Helper()
	body := obj{
		"question": "Will the gauge at " + rand.Text() + " read above 6 m?", "cutoffAt": stamp(time.Now().AddDate(1, 0, 0)),
		"lane": "SCIENCE", "initialYesBps": initialYes,
	}
	for _, m := range more {
		for name, v := range m {
			body[name] = v
		}
	}
	return post(t, s.Hub+"/api/admin/markets", s.admin(), payload(body)).is(http.StatusCreated).str("marketId")
}

func stamp(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05.000Z") }

// finalize claims the outcome of a native market.
func (s *stack) finalize(t testing.TB, market, verdict string) *answer {
	t.Helper()
	return post(t, s.Hub+"/api/resolution/finalize", s.admin(), payload(obj{"marketId": market, "verdict": verdict})).is(http.StatusOK)
}

// signal reads a signal.
func (s *stack) signal(t testing.TB, id string) *answer {
	t.Helper()
	return get(t, s.Hub+"/api/signals/"+id).is(http.StatusOK)
}

// venue opens a market at the simulated venue.
func (s *stack) venue(t testing.TB, yesPrice float64, more ...obj) string {
	t.Helper()
	body := obj{"question": "Will the bridge at " + rand.Text() + " open in time?", "yesPrice": yesPrice, "tags": []string{"Science"}}
	for _, m := range more {
		for name, v := range m {
			body[name] = v
		}
	}
	return post(t, s.Venues+"/sim/polymarket/markets", payload(body)).is(http.StatusCreated).str("id")
}

// turn changes a market at the simulated venue.
func (s *stack) turn(t testing.TB, market string, change obj) {
	t.Helper()
	post(t, s.Venues+"/sim/polymarket/markets/"+market, payload(change)).is(http.StatusOK)
}

// fault makes the simulated venue fail for a while.
func (s *stack) fault(t testing.TB, mode string, seconds int) {
	t.Helper()
	post(t, s.Venues+"/sim/polymarket/fault", payload(obj{"mode": mode, "seconds": seconds})).is(http.StatusOK)
}
