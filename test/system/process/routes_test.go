package process

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/signalcast/signalcast/test/system/openapi"
	"github.com/signalcast/signalcast/test/system/stack"
)

// TestPathsAnswerAsDocumented asks every documented path for its methods with OPTIONS, requires 410 with the successor of
// every method of a retired path, and 404 of paths that are not documented.
func TestPathsAnswerAsDocumented(t *testing.T) {
	s := system(t)
	p := newPaths(t, s)
	for name, test := range map[string]func(t *testing.T){"methods": p.methods, "retired": p.retired, "unknown": p.unknown} {
		t.Run(name, test)
	}
}

// paths are the documented paths of all services, except those of health checks.
type paths struct {
	s         *stack.Stack
	crowd     *stack.Crowd
	documents map[string][]string // methods by service and path
	list      []*openapi.Operation
}

func newPaths(t *testing.T, s *stack.Stack) *paths {
	t.Helper()
	doc := openapi.ForTest(t)
	p := &paths{s: s, crowd: stack.NewCrowd(40), documents: map[string][]string{}}
	for _, op := range doc.Operations {
		at := op.Host + op.Path
		if p.documents[at] == nil && op.Path != "/healthz" && op.Path != "/readyz" {
			p.list = append(p.list, op)
		}
		p.documents[at] = append(p.documents[at], op.Method)
	}
	return p
}

func (p *paths) methods(t *testing.T) {
	for i, op := range p.list {
		want := append([]string{http.MethodOptions}, p.documents[op.Host+op.Path]...)
		if slices.Contains(want, http.MethodGet) {
			want = append(want, http.MethodHead)
		}
		slices.Sort(want)
		a := p.crowd.Retry(t, http.MethodOptions, p.s.Base(op.Host, i)+filled(op.Path))
		if got := a.Header.Get("Allow"); a.Status != http.StatusNoContent || got != strings.Join(want, ", ") {
			t.Errorf("OPTIONS %s%s: %d, Allow %q; want 204, %q", op.Host, op.Path, a.Status, got, strings.Join(want, ", "))
		}
	}
}

func (p *paths) retired(t *testing.T) {
	n := 0
	for i, op := range p.list {
		if !op.Gone() {
			continue
		}
		for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
			a := p.crowd.Retry(t, method, p.s.Base(op.Host, i)+filled(op.Path))
			n++
			if a.Status != http.StatusGone || method != http.MethodHead && (a.Code() != "gone" || a.Member("successor") != "/api/v1/stations") {
				t.Errorf("%s %s%s: %v; want 410 gone with its successor", method, op.Host, op.Path, a)
			}
		}
	}
	if n == 0 {
		t.Error("no path is retired")
	}
}

// commonPaths are paths that other services often have.
var commonPaths = []string{
	"/metrics", "/debug/pprof/", "/debug/vars", "/admin", "/api", "/api/v1", "/api/v2/signals", "/api/debug", "/graphql", "/swagger",
	"/swagger.json", "/openapi.yml", "/actuator/health", "/.env", "/.git/config", "/server-status", "/internal/routes", "/api/admin",
	"/api/internal", "/static/", "/static",
}

// unknown asks for common paths and for each beginning of a documented path.
func (p *paths) unknown(t *testing.T) {
	for _, service := range openapi.Hosts {
		asked := map[string]bool{}
		for _, path := range commonPaths {
			asked[path] = true
		}
		for _, op := range p.list {
			for at := op.Path; op.Host == service && strings.Count(at, "/") > 1; {
				at = at[:strings.LastIndex(at, "/")]
				asked[filled(at)] = true
			}
		}
		i := 0
		for path := range asked {
			if p.documented(service, path) {
				continue
			}
			i++
			if a := p.crowd.Retry(t, http.MethodGet, p.s.Base(service, i)+path); a.Status != http.StatusNotFound {
				t.Errorf("GET %s%s: %v; want 404", service, path, a)
			}
		}
	}
}

// documented reports whether a path is one of the documented ones.
func (p *paths) documented(service, path string) bool {
	for at := range p.documents {
		pattern, ok := strings.CutPrefix(at, service+"/")
		if !ok {
			continue
		}
		want, got := strings.Split(pattern, "/"), strings.Split(strings.TrimPrefix(path, "/"), "/")
		if want[len(want)-1] == "{rest}" && len(got) >= len(want) {
			got = got[:len(want)]
		}
		if slices.EqualFunc(want, got, func(w, g string) bool { return w == g || strings.HasPrefix(w, "{") && g != "" }) {
			return true
		}
	}
	return false
}

// filled replaces the parameters of a path.
func filled(path string) string {
	parts := strings.Split(path, "/")
	for i, part := range parts {
		if strings.HasPrefix(part, "{") {
			parts[i] = "x"
		}
	}
	return strings.Join(parts, "/")
}
