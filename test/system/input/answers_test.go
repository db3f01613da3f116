package input

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/signalcast/signalcast/test/system/openapi"
	"github.com/signalcast/signalcast/test/system/stack"
)

// asker sends generated requests.
type asker struct {
	s         *stack.Stack
	doc       *openapi.Document
	crowd     *stack.Crowd
	values    map[string]string // of path parameters that exist
	people    []*stack.Operator // each with its own limits
	sessions  []stack.Set
	operators []*stack.Operator
}

func newAsker(t *testing.T, s *stack.Stack) *asker {
	t.Helper()
	author := s.NewAuthor(t)
	q := &asker{s: s, doc: openapi.ForTest(t), crowd: stack.NewCrowd(200), operators: s.SeedOperators(t, stack.Size(t, 4, 24, 200))}
	q.values = map[string]string{
		"marketId": author.Market, "market": author.Market, "handle": author.Handle, "id": author.CallID, "file": "app.css",
		"type": "signal.create", "kind": "signal",
	}
	for range stack.Size(t, 1, 9, 40) {
		p := s.NewOperator(t)
		q.people, q.sessions = append(q.people, p), append(q.sessions, p.Session(t))
	}
	return q
}

// Whatever is sent, the answer is one that the OpenAPI document describes, member by member.
func TestAnswersAreAsDescribed(t *testing.T) {
	s := inputStack(t)
	q := newAsker(t, s)
	t.Parallel()
	var covered, accepted atomic.Int64
	stack.Each(len(q.doc.Operations), 3, func(i int) {
		o, random := q.doc.Operations[i], rand.New(rand.NewPCG(6, uint64(i)))
		described := 0
		for n := range stack.Size(t, 2, 12, 120) {
			a, address := q.send(t, o, random, openapi.Validity(n%3), n)
			if err := q.check(t, o, address, a); err != nil {
				t.Errorf("%s: %v\n%d %.300s", o.Name(), err, a.Status, a.Body)
				return // one of each operation suffices
			}
			if described++; a.Status < 400 {
				accepted.Add(1)
			}
		}
		if described > 0 {
			covered.Add(1)
		}
	})
	if n := int(covered.Load()); n != len(q.doc.Operations) || accepted.Load() == 0 {
		t.Errorf("%d of %d operations have answered as described, %d requests were accepted", n, len(q.doc.Operations), accepted.Load())
	}
}

// check returns an error unless the document describes the answer.
func (q *asker) check(t *testing.T, o *openapi.Operation, address string, a stack.Answer) error {
	switch {
	case a.Status == http.StatusInternalServerError, a.Status > http.StatusInternalServerError && !o.Knows(a.Status):
		return fmt.Errorf("a failure of the service")
	case a.Status == http.StatusNotFound && a.Code() == "not_found" && !q.doc.Has(o.Host, o.Method, address):
		return nil // the values in the path have made it the path of no operation
	}
	return o.Check(t.Context(), q.s.Base(o.Host, 0)+o.Fill(nil), a.Status, a.Header, a.Body)
}

// send sends a request of which one part, the path, the query or the body, has the given validity. The others are valid.
func (q *asker) send(
	t *testing.T, o *openapi.Operation, random *rand.Rand, validity openapi.Validity, n int,
) (a stack.Answer, address string) {
	place := random.IntN(3)
	validityOf := func(part int) openapi.Validity {
		if part == place {
			return validity
		}
		return openapi.Valid
	}
	address = q.s.Base(o.Host, n) + q.path(o, random, validityOf(0))
	if query := q.query(o, random, validityOf(1)); query != "" {
		address += "?" + query
	}
	sets := []stack.Set{
		stack.Header("Accept", "application/json"), stack.Header("Sec-Fetch-Site", "same-origin"), q.credential(o, n),
	}
	if schema := o.Body(); schema != nil && !o.Takes("cronSecret") {
		body := openapi.Generate(schema, random, validityOf(2))
		members, isObject := body.(map[string]any)
		if _, has := members["marketId"]; has && validityOf(2) == openapi.Valid && random.IntN(3) > 0 {
			members["marketId"] = q.values["marketId"]
		}
		if o.Form() {
			form := url.Values{}
			for name, value := range members {
				form.Set(name, fmt.Sprint(value))
			}
			sets = append(sets, stack.Form(form))
		} else {
			raw, err := json.Marshal(body)
			if err != nil || !isObject && body == nil {
				raw = []byte("{}") // JSON has no text for some generated numbers
			}
			sets = append(sets, stack.Body(string(raw)))
		}
	}
	return q.crowd.Do(t, o.Method, address, sets...), address
}

// credential returns one that the operation accepts, an unknown one or none. Streams get an unknown one, so that the answer
// ends, and so do the operations of the scheduler, which work on the whole system.
func (q *asker) credential(o *openapi.Operation, n int) stack.Set {
	unknown := stack.Bearer("a.b.c")
	switch i := n % len(q.people); {
	case o.Streams(), o.Takes("cronSecret"), n%7 == 6:
		return unknown
	case n%7 == 5:
		return func(*http.Request) {}
	case o.Takes("adminSecret"):
		return q.s.Admin()
	case o.Takes("operatorKey"):
		return stack.Bearer(q.operators[n%len(q.operators)].Key)
	case o.Takes("identityToken"):
		return stack.Bearer(q.people[i].Login)
	case o.Takes("developerToken"):
		return func(r *http.Request) { r.AddCookie(&http.Cookie{Name: "db_dev", Value: q.people[i].Login}) }
	case o.Takes("sessionId"):
		return q.sessions[i]
	}
	return func(*http.Request) {}
}

// path returns the path with values that exist, that do not exist, or that are hostile.
func (q *asker) path(o *openapi.Operation, random *rand.Rand, validity openapi.Validity) string {
	values := map[string]string{}
	for _, p := range o.Parameters() {
		switch known := q.values[p.Name]; {
		case validity == openapi.Hostile:
			values[p.Name] = url.PathEscape(openapi.HostileTexts[random.IntN(len(openapi.HostileTexts))])
		case validity == openapi.Invalid || known == "":
			values[p.Name] = []string{openapi.NoID, openapi.NoKey, "x", "0", strings.ToUpper(q.values["handle"])}[random.IntN(5)]
		default:
			values[p.Name] = known
		}
	}
	return o.Fill(values)
}

// query returns the required parameters and some of the others.
func (q *asker) query(o *openapi.Operation, random *rand.Rand, validity openapi.Validity) string {
	values := url.Values{}
	for _, p := range o.Parameters() {
		if p.In != "query" || !p.Required && random.IntN(2) == 0 {
			continue
		}
		value := openapi.Generate(p.Schema, random, validity)
		switch {
		case validity != openapi.Valid:
		case p.Name == "marketId" || p.Name == "market" || p.Name == "market_id":
			value = q.values["marketId"]
		case p.Name == "handle":
			value = q.values["handle"]
		}
		values.Set(p.Name, fmt.Sprint(value))
	}
	return values.Encode()
}
