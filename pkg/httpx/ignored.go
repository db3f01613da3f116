package httpx

import (
	"encoding/json"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/signalcast/signalcast/pkg/protocol"
)

// ignoredHeader is the header that names the query parameters which a read has ignored.
const ignoredHeader = "X-Ignored"

// Bounds of the header: query strings are chosen by clients.
const (
	maxIgnored     = 20   // names in the header
	maxIgnoredName = 64   // bytes of one name
	maxIgnoredRaw  = 4096 // bytes of a query string; the parameters of a longer one are not examined
)

// queryParams contains the query parameters of one read, by name. A function reports whether a value is used as it is; nil means
// that every value is.
type queryParams map[string]func(value string) bool

// Queries contains the query parameters of all reads of a service.
type Queries struct {
	reads []describedRead // with a parameter in the path
	fixed map[string]queryParams
}

// describedRead is one read of a service and its path, in segments. An empty segment is a parameter.
type describedRead struct {
	path   []string
	params queryParams
}

// NameIgnored returns a handler that sets the header X-Ignored for GET requests with query parameters that the read does not use:
// parameters that the OpenAPI document does not describe, values that it does not allow, and repeated parameters. The request
// is then answered by next. Pages and operations of administrators have no such header.
func (q *Queries) NameIgnored(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if raw := r.URL.RawQuery; raw != "" && len(raw) <= maxIgnoredRaw && (r.Method == http.MethodGet || r.Method == http.MethodHead) {
			if params, ok := q.find(r.URL.Path); ok {
				if names := params.ignored(raw); len(names) > 0 {
					w.Header()[ignoredHeader] = []string{strings.Join(names, ", ")}
				}
			}
		}
		next.ServeHTTP(w, r)
	})
}

func (q *Queries) find(path string) (queryParams, bool) {
	if p, ok := q.fixed[path]; ok {
		return p, true
	}
	segments := strings.Split(path, "/")
	for _, r := range q.reads {
		if slices.EqualFunc(r.path, segments, func(want, got string) bool { return want == "" && got != "" || want == got }) {
			return r.params, true
		}
	}
	return nil, false
}

// ignored returns the names of the ignored parameters of a query string, each once, in the order of the query. An empty value is
// the same as an absent parameter. A name is escaped as in a query string, so that it cannot change the header.
func (p queryParams) ignored(raw string) (names []string) {
	seen := make(map[string]bool)
	for pair := range strings.SplitSeq(raw, "&") {
		name, value, _ := strings.Cut(pair, "=")
		name, err := url.QueryUnescape(name)
		if err != nil || name == "" {
			continue
		}
		value, err = url.QueryUnescape(value)
		check, known := p[name]
		used := known && err == nil && !seen[name] && (value == "" || check == nil || check(value))
		seen[name] = true
		if name = url.QueryEscape(name); used || len(name) > maxIgnoredName || slices.Contains(names, name) {
			continue
		}
		if names = append(names, name); len(names) == maxIgnored {
			break
		}
	}
	return names
}

// schema contains the members of a JSON schema that limit the values of a query parameter.
type schema struct {
	Type    any
	Format  string
	Minimum *float64
	Maximum *float64
	Enum    []string
	Values  []string `json:"x-signalcast-values"` // the values that the read uses
	Each    []string `json:"x-signalcast-each"`   // the same for the parts of a list that is separated by commas
}

type described struct {
	Ref        string `json:"$ref"`
	Name, In   string
	Schema     schema
	Parameters []described
	Servers    []struct{ URL string }
	Tags       []string
}

// ParseQueries returns the query parameters of the reads that document, an OpenAPI document as JSON, describes. host is the name
// of the service in it, such as hub. ParseQueries panics if the document is not valid.
func ParseQueries(document []byte, host string) *Queries {
	var doc struct {
		Paths      map[string]map[string]json.RawMessage
		Components struct{ Parameters map[string]described }
	}
	if err := json.Unmarshal(document, &doc); err != nil {
		panic("httpx: the OpenAPI document is not valid: " + err.Error())
	}
	q := &Queries{fixed: make(map[string]queryParams)}
	for path, methods := range doc.Paths {
		var op described
		if json.Unmarshal(methods["get"], &op) != nil || len(op.Servers) == 0 || !strings.Contains(op.Servers[0].URL, "//"+host+".") ||
			slices.ContainsFunc(op.Tags, func(tag string) bool { return tag == "pages" || tag == "admin" || tag == "retired" }) {
			continue
		}
		params := make(queryParams)
		for _, p := range op.Parameters {
			if name, ok := strings.CutPrefix(p.Ref, "#/components/parameters/"); ok {
				p = doc.Components.Parameters[name]
			}
			if p.In == "query" {
				params[p.Name] = p.check()
			}
		}
		segments := strings.Split(path, "/")
		for i, s := range segments {
			if strings.HasPrefix(s, "{") {
				segments[i] = ""
			}
		}
		if strings.Contains(path, "{") {
			q.reads = append(q.reads, describedRead{segments, params})
		} else {
			q.fixed[path] = params
		}
	}
	return q
}

// check returns the function that reports whether a value of the parameter is used as it is, or nil.
func (p *described) check() func(string) bool {
	s := &p.Schema
	known := append(slices.Clone(s.Values), s.Enum...)
	switch {
	case p.Name == "lane":
		return func(v string) bool { return protocol.LaneFilter(v) != "" || slices.Contains(known, v) }
	case p.Name == "cursor":
		return protocol.IsCursor
	case p.Name == "ids":
		return func(v string) bool { _, complete := protocol.ParseMarketIDs(v); return complete }
	case len(known) > 0:
		return func(v string) bool { return slices.Contains(known, v) }
	case len(s.Each) > 0:
		return func(v string) bool {
			return !slices.ContainsFunc(strings.Split(v, ","), func(part string) bool { return !slices.Contains(s.Each, part) })
		}
	case s.Format == "date-time":
		return func(v string) bool { _, ok := protocol.ParseStamp(v); return ok }
	case s.Type == "integer":
		return func(v string) bool {
			n, err := strconv.ParseInt(v, 10, 64)
			return err == nil && v[0] != '+' && s.holds(float64(n))
		}
	case s.Type == "number":
		return func(v string) bool {
			n, err := strconv.ParseFloat(v, 64)
			return err == nil && !math.IsNaN(n) && !math.IsInf(n, 0) && s.holds(n)
		}
	}
	return nil
}

// holds reports whether n is within the bounds of the schema.
func (s *schema) holds(n float64) bool {
	return (s.Minimum == nil || n >= *s.Minimum) && (s.Maximum == nil || n <= *s.Maximum)
}
