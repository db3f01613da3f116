package rows

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
	"github.com/signalcast/signalcast/test/system/openapi"
)

// bounds holds the bodies of requests against the description in both directions: what it
// rules out is refused, and what it allows is not refused for that.
func (q *inquiry) bounds(ctx context.Context, doc *openapi.Document) (operations, edges int) {
	var all []*openapi.Operation
	for _, op := range doc.Operations {
		if op.Body() != nil && !op.Form() && !unbound[op.Path] {
			all = append(all, op)
		}
	}
	var sent atomic.Int64
	frame.Each(len(all), 6, func(i int) {
		for n, schema := range alternatives(all[i].Body()) {
			sent.Add(int64(q.around(ctx, all[i], schema, fmt.Sprintf("%d-%d", i, n))))
		}
	})
	return len(all), int(sent.Load())
}

// unbound are bodies that other rows hold: messages of agents, and objects of any members.
var unbound = map[string]bool{agentDoor: true, protocolPath + agentPart: true, "/api/auth/privy": true, "/api/admin/daily-digest": true}

// alternatives are the objects that a body may be.
func alternatives(s *openapi3.Schema) []*openapi3.Schema {
	if len(s.OneOf) == 0 {
		return []*openapi3.Schema{s}
	}
	var out []*openapi3.Schema
	for _, ref := range s.OneOf {
		out = append(out, ref.Value)
	}
	return out
}

// around sends the bodies around a good one of an operation.
func (q *inquiry) around(ctx context.Context, op *openapi.Operation, s *openapi3.Schema, name string) (sent int) {
	by, err := q.bodyWriter(ctx, op, name)
	if err != nil {
		q.seen.Wrong("%s: %v", op.Name(), err)
		return 0
	}
	good := by.body(op, s)
	base := by.send(ctx, op, good, 0)
	if base.Status == http.StatusBadRequest && base.Code() != notHere[op.Name()] {
		q.seen.Wrong("%s: a good body %s: %.200s", op.Name(), text(good), base)
		return 1
	}
	for n, edge := range openapi.Edges(s, good) {
		sent++
		q.asked.Add(1)
		delete(edge.Body, otherName[edge.Field])
		if a := by.send(ctx, op, edge.Body, n+1); !fits(op, edge, a) {
			q.wrong.Add(1)
			q.seen.Wrong("%s: %s, which the description has as %s: %.200s", op.Name(), edge.What, map[bool]string{true: "good", false: "wrong"}[edge.Fits], a)
		}
	}
	return sent
}

// fits tells whether an answer to a body is what the description has of it: what is good is
// not refused for that member, what is wrong is refused by a code of the contract.
func fits(op *openapi.Operation, edge openapi.Edge, a client.Answer) bool {
	field := a.Text("field")
	about := field == edge.Field || strings.HasPrefix(field, edge.Field+".") || strings.HasPrefix(field, edge.Field+"[")
	switch {
	case a.Err != nil || a.Status == http.StatusTooManyRequests || a.Status == http.StatusInternalServerError || !op.Knows(a.Status):
		return false
	case edge.Fits && a.Code() == notHere[op.Name()]:
		return true
	case edge.Fits:
		return a.Status != http.StatusBadRequest || field != "" && !about
	}
	code := a.Code()
	return a.Status == http.StatusBadRequest && (about || field == "") && (strings.HasPrefix(code, "invalid_") || strings.HasPrefix(code, "missing_") || words400[code])
}

// otherName are members of which one alone is given.
var otherName = map[string]string{"signal": "position", "eventId": "marketId"}

// words400 are the codes of a 400 that do not begin as the others do.
var words400 = map[string]bool{"unsupported_grant_type": true, "weak_key": true, "unknown_channel": true}

func text(v any) string {
	raw, _ := json.Marshal(v) // it holds nothing that cannot be written
	return string(raw)
}
