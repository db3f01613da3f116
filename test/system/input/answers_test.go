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

// generator sends generated requests to operations of the OpenAPI document.
type generator struct {
	s         *stack.Stack
	doc       *openapi.Document
	crowd     *stack.Crowd
	values    map[string]string // values of path parameters that refer to existing objects
	people    []*stack.Operator // each has separate rate limits
	sessions  []stack.Set
	operators []*stack.Operator
}

func newGenerator(t *testing.T, s *stack.Stack) *generator {
	t.Helper()
	author := s.NewAuthor(t)
	q := &generator{s: s, doc: openapi.ForTest(t), crowd: stack.NewCrowd(200), operators: s.SeedOperators(t, stack.Size(t, 4, 24, 200))}
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

// TestAnswersMatchTheDocument checks that the answer to any request matches the OpenAPI document, member by member.
func TestAnswersMatchTheDocument(t *testing.T) {
	s := inputStack(t)
	q := newGenerator(t, s)
	t.Parallel()
	var covered, accepted atomic.Int64
	stack.Each(len(q.doc.Operations), 3, func(i int) {
		o, random := q.doc.Operations[i], rand.New(rand.NewPCG(6, uint64(i)))
		described := 0
		for n := range stack.Size(t, 2, 12, 120) {
			a, address := q.send(t, o, random, openapi.Validity(n%3), n)
			if err := q.check(t, o, address, a); err != nil {
				t.Errorf("the answer of %s does not match the OpenAPI document: %v\n%d %.300s", o.Name(), err, a.Status, a.Body)
				return // one error for each operation is enough
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
		t.Errorf("%d of %d operations gave matching answers, and %d requests were accepted; want more", n, len(q.doc.Operations), accepted.Load())
	}
}

// check returns an error unless the OpenAPI document describes the answer of the operation.
func (q *generator) check(t *testing.T, o *openapi.Operation, address string, a stack.Answer) error {
	switch {
	case a.Status == http.StatusInternalServerError, a.Status > http.StatusInternalServerError && !o.Knows(a.Status):
		return fmt.Errorf("the status is a server error")
	case a.Status == http.StatusNotFound && a.Code() == "not_found" && !q.doc.Has(o.Host, o.Method, address):
		return nil // with these parameter values the path belongs to no operation
	}
	return o.Check(t.Context(), q.s.Base(o.Host, 0)+o.Fill(nil), a.Status, a.Header, a.Body)
}

// send sends a request to an operation. One random part of the request, the path, the query or the body, has the given
// validity; the other parts are valid.
func (q *generator) send(
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
				raw = []byte("{}") // JSON cannot represent some of the generated numbers
			}
			sets = append(sets, stack.Body(string(raw)))
		}
	}
	return q.crowd.Do(t, o.Method, address, sets...), address
}

// credential returns a credential that the operation accepts, an unknown credential, or none. It always returns an unknown
// credential for streams, whose answer would not end, and for operations of the scheduler, which affect the whole system.
func (q *generator) credential(o *openapi.Operation, n int) stack.Set {
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

// path returns the path of an operation with parameters that refer to existing objects or to objects that do not exist, or with
// hostile parameters.
func (q *generator) path(o *openapi.Operation, random *rand.Rand, validity openapi.Validity) string {
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

// query returns the query string of a request, with the required parameters and a random choice of the others.
func (q *generator) query(o *openapi.Operation, random *rand.Rand, validity openapi.Validity) string {
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
