package rows

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/system/openapi"
)

// unknownBearer is one that is no credential at all.
var unknownBearer = byBearer("a.b.c")

// request makes a request of an operation. In a careful one everything is as described;
// in the others one thing is not, in the path, in the query or in the body.
func (q *inquiry) request(op *openapi.Operation, r *rand.Rand, care openapi.Care, n int) client.Request {
	place := r.IntN(3) // path, query, body
	kind := func(at int) openapi.Care {
		if at == place {
			return care
		}
		return openapi.Valid
	}
	out := client.Request{
		Method: op.Method, URL: hostOf(q.env, op.Host, n) + q.path(op, r, kind(0)), As: q.as(op, n),
		Header:  http.Header{"Accept": {"application/json"}, "Sec-Fetch-Site": {"same-origin"}},
		Timeout: 30 * time.Second,
	}
	if holds(op) { // a good one would keep its connection: these are refused before
		out.As = unknownBearer
	}
	if query := q.query(op, r, kind(1)); query != "" {
		out.URL += "?" + query
	}
	schema := op.Body()
	if schema == nil || op.Takes("cronSecret") { // without a body those do their work, which other rows count
		if op.Takes("cronSecret") {
			out.As = unknownBearer
		}
		return out
	}
	body := openapi.Generate(schema, r, kind(2))
	if members, ok := body.(map[string]any); ok && r.IntN(3) > 0 { // else nothing would be let through
		if _, there := members["marketId"]; there && kind(2) == openapi.Valid {
			members["marketId"] = q.market
		}
	}
	if op.Form() {
		asForm(&out, formOf(body))
		return out
	}
	raw, err := json.Marshal(body)
	if err != nil {
		raw = []byte("{}") // a number that JSON has no word for
	}
	out.Body = raw
	return out
}

func formOf(body any) url.Values {
	form := url.Values{}
	members, _ := body.(map[string]any)
	for name, v := range members {
		form.Set(name, fmt.Sprint(v))
	}
	return form
}

// as is somebody whom an operation lets in; now and then nobody.
func (q *inquiry) as(op *openapi.Operation, n int) client.Credential {
	p := q.people[n%len(q.people)]
	switch {
	case n%7 == 5:
		return nil
	case n%7 == 6:
		return unknownBearer
	case op.Takes("adminSecret"):
		return q.env.Admin()
	case op.Takes("operatorKey"):
		return q.operators[n%len(q.operators)].Keys[0]
	case op.Takes("identityToken"):
		return p.login
	case op.Takes("developerToken"):
		return developer(string(p.login))
	case op.Takes("sessionId"):
		return p.session
	}
	return nil
}

// path fills the path: with what exists, with an unknown id, or with a nasty text.
func (q *inquiry) path(op *openapi.Operation, r *rand.Rand, care openapi.Care) string {
	known := map[string]string{"{marketId}": q.market, "{id}": q.signal, "{handle}": q.Handle, "{file}": "app.css", "{type}": "signal.create", "{kind}": "signal"}
	parts := strings.Split(op.Path, "/")
	for i, part := range parts {
		switch {
		case !strings.HasPrefix(part, "{"):
		case care == openapi.Hostile:
			parts[i] = url.PathEscape(openapi.Nasty[r.IntN(len(openapi.Nasty))])
		case care == openapi.Near || known[part] == "":
			parts[i] = []string{noID, noKey, "x", "0", strings.ToUpper(q.Handle)}[r.IntN(5)]
		default:
			parts[i] = known[part]
		}
	}
	return strings.Join(parts, "/")
}

// query gives the parameters of the query: each that must be there, and some others.
func (q *inquiry) query(op *openapi.Operation, r *rand.Rand, care openapi.Care) string {
	values := url.Values{}
	for _, p := range op.Parameters() {
		if p.In != "query" || !p.Required && r.IntN(2) == 0 {
			continue
		}
		v := openapi.Generate(p.Schema, r, care)
		switch {
		case care != openapi.Valid:
		case p.Name == "marketId" || p.Name == "market" || p.Name == "market_id":
			v = q.market
		case p.Name == "handle":
			v = q.Handle
		}
		values.Set(p.Name, fmt.Sprint(v))
	}
	return values.Encode()
}
