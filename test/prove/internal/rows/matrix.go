package rows

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
	"github.com/signalcast/signalcast/test/prove/stack"
	"github.com/signalcast/signalcast/test/system/openapi"
)

// matrix is every read under every fault, asked once for the rows C1, C3 and C8.
type matrix struct {
	routes  int
	cells   []*cell
	before  []*cell             // the same reads while all is well
	facts   map[string]*witness // what the healthy system says, by path and query
	mended  []mended
	slowest time.Duration // of the reads before
}

// cell is one read under one fault.
type cell struct {
	read
	lost   string
	how    stack.Fault
	cold   bool // nobody has asked this before
	answer client.Answer
}

func (c *cell) String() string {
	return fmt.Sprintf("%s%s (%s %s)", c.op.Name(), c.query(), c.lost, c.how)
}

// mended is how long it took until all was as before.
type mended struct {
	lost string
	how  stack.Fault
	took time.Duration
	why  string // what was still wrong when we stopped waiting
}

// loss is a fault of a dependency.
type loss struct {
	lost string
	how  stack.Fault
}

// losses are those that are tried: at the smallest size the one that bites first.
func losses(env *frame.Env) (out []loss) {
	if env.Size == frame.Small {
		return []loss{{"api", stack.Refused}}
	}
	for _, lost := range dependencies {
		for _, how := range stack.Faults {
			out = append(out, loss{lost, how})
		}
	}
	return out
}

// abreast is how many reads are under way at a time.
const abreast = 4

// theMatrix gives what came of the reads, and asks them if nobody has yet.
func theMatrix(ctx context.Context, env *frame.Env) (*matrix, error) {
	v, err := env.Shared("matrix", func() (any, error) { return runMatrix(ctx, env) })
	if err != nil {
		return nil, err
	}
	return v.(*matrix), nil
}

func runMatrix(ctx context.Context, env *frame.Env) (*matrix, error) {
	doc, err := openapi.Load(env.Root)
	if err != nil {
		return nil, err
	}
	list := losses(env)
	seeds, err := sow(ctx, env, "matrix", len(list)+1)
	if err != nil {
		return nil, err
	}
	if err := filled(ctx, env); err != nil {
		return nil, err
	}
	w, err := weaken(ctx, env)
	if err != nil {
		return nil, err
	}
	defer w.stop()
	m := &matrix{facts: map[string]*witness{}}
	warm := seeds.reads(doc, 0, 0)
	m.routes = len(warm)
	m.witness(ctx, env, warm)
	if err := m.warmUp(ctx, env, w, warm); err != nil {
		return nil, err
	}
	for _, c := range m.before {
		m.slowest = max(m.slowest, c.answer.Took())
	}
	for i, p := range list {
		if err := m.fault(ctx, env, w, doc, seeds, i, p); err != nil {
			return nil, err
		}
	}
	m.witness(ctx, env, warm)
	return m, nil
}

// filled waits until a system that has just started has a programme: what it shows
// before is whole and empty, and no measure of what comes after.
func filled(ctx context.Context, env *frame.Env) error {
	_, err := frame.Until(ctx, time.Minute, func() (bool, error) {
		var on struct {
			Total int `json:"total"`
		}
		a := env.Client.Do(ctx, client.Request{Method: http.MethodGet, URL: env.Stack.Clock + "/program/timeline"})
		if a.Err == nil && a.Status == http.StatusOK {
			if err := json.Unmarshal(a.Body, &on); err != nil {
				return false, err
			}
		}
		if on.Total == 0 {
			return false, wait(ctx, time.Now().Add(100*time.Millisecond))
		}
		return true, nil
	})
	return err
}

// warmUp reads until the weak system, which has just started, shows all that the
// other one does; what is missing after that is told by bad.
func (m *matrix) warmUp(ctx context.Context, env *frame.Env, w *weak, warm []read) error {
	_, err := frame.Until(ctx, recoverWithin, func() (bool, error) {
		m.before = m.ask(ctx, env, w, warm, loss{}, false)
		for _, c := range m.before {
			if c.answer.Header.Get("X-Degraded") != "" || len(m.facts[c.key()].missing(c)) > 0 {
				return false, wait(ctx, time.Now().Add(250*time.Millisecond))
			}
		}
		return true, nil
	})
	return err
}

// fault loses one dependency, reads, and waits until all is well again. At the
// usual size a quarter of the routes is read under each fault, so that each
// route meets each dependency once.
func (m *matrix) fault(ctx context.Context, env *frame.Env, w *weak, doc *openapi.Document, s *seeds, i int, p loss) error {
	warm, cold := s.reads(doc, 0, i+1), s.reads(doc, i+1, i+1)
	share := env.Of(1, len(stack.Faults), 1)
	var known, fresh []read
	for n := range warm {
		if (n+i+i/len(stack.Faults))%share != 0 {
			continue
		}
		known = append(known, warm[n])
		if cold[n].path != warm[n].path {
			fresh = append(fresh, cold[n])
		}
	}
	if p.lost != "venue" {
		m.witness(ctx, env, fresh)
	}
	mend, err := w.lose(p.lost, p.how)
	if err != nil {
		return err
	}
	m.cells = append(m.cells, m.ask(ctx, env, w, fresh, p, true)...)
	m.cells = append(m.cells, m.ask(ctx, env, w, known, p, false)...)
	if err := mend(ctx); err != nil {
		return err
	}
	if err := m.recover(ctx, env, w, m.well(warm), p); err != nil {
		return err
	}
	m.witness(ctx, env, fresh)
	return nil
}

// ask reads from the weak system.
func (m *matrix) ask(ctx context.Context, env *frame.Env, w *weak, reads []read, p loss, cold bool) []*cell {
	out := make([]*cell, len(reads))
	frame.Each(len(reads), abreast, func(i int) {
		c := &cell{read: reads[i], lost: p.lost, how: p.how, cold: cold}
		c.answer = env.Client.Do(ctx, c.request(w.hosts))
		out[i] = c
	})
	return out
}

// well leaves out what was not well before either; bad tells of those.
func (m *matrix) well(reads []read) (out []read) {
	for i, c := range m.before {
		if m.healthy(c.read, c.answer.Status) && c.answer.Header.Get("X-Degraded") == "" {
			out = append(out, reads[i])
		}
	}
	return out
}

// recoverWithin is how long the matrix waits for one system to be well.
const recoverWithin = 12 * time.Second

// recover asks until every read is as before.
func (m *matrix) recover(ctx context.Context, env *frame.Env, w *weak, reads []read, p loss) error {
	began := time.Now()
	r := mended{lost: p.lost, how: p.how}
	left := reads
	within := recoverWithin
	if env.Size == frame.Small {
		within = 3 * time.Second
	}
	ok, err := frame.Until(ctx, within, func() (bool, error) {
		var still []read
		for _, c := range m.ask(ctx, env, w, left, p, false) {
			if !m.healthy(c.read, c.answer.Status) || c.answer.Header.Get("X-Degraded") != "" {
				still, r.why = append(still, c.read), fmt.Sprintf("%s: %.160s", c.op.Name(), c.answer)
			}
		}
		left = still
		if len(left) == 0 {
			return true, nil
		}
		return false, wait(ctx, time.Now().Add(80*time.Millisecond))
	})
	if ok {
		r.why = ""
	}
	r.took = time.Since(began)
	m.mended = append(m.mended, r)
	return err
}

// healthy tells whether a read has a status while all is well.
func (m *matrix) healthy(r read, status int) bool {
	w := m.facts[r.key()]
	return w != nil && w.status[status]
}

// witness asks the other system, which loses nothing, and keeps what it says.
func (m *matrix) witness(ctx context.Context, env *frame.Env, reads []read) {
	hosts := map[string]string{"hub": env.Hub(0), "api": env.Stack.API, "clock": env.Stack.Clock}
	answers := make([]client.Answer, len(reads))
	frame.Each(len(reads), abreast, func(i int) { answers[i] = env.Client.Do(ctx, reads[i].request(hosts)) })
	for i, r := range reads {
		w := m.facts[r.key()]
		if w == nil {
			w = &witness{}
			m.facts[r.key()] = w
		}
		w.hear(answers[i])
	}
}

// bad tells what is wrong with the reads while all was well; such a route
// could prove nothing.
func (m *matrix) bad(ctx context.Context, seen *frame.Seen) {
	for _, c := range m.before {
		due := c.answer.Status == http.StatusOK || !c.op.Knows(http.StatusOK) && c.answer.Status < 500 ||
			c.answer.Status == http.StatusSeeOther && c.op.Knows(http.StatusSeeOther) // a page that asks who is there
		source := c.answer.Header.Get("X-Degraded")
		seen.Check(due && source == "", "%s without a fault: %.120s (degraded %q)", c.op.Name(), c.answer, source)
		if err := c.fits(ctx); err != nil {
			seen.Wrong("%s without a fault: %v", c.op.Name(), oneLine(err))
		}
	}
}
