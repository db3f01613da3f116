package rows

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
	"github.com/signalcast/signalcast/test/system/openapi"
)

// m1 holds four lists of routes against each other: the specification's, the
// description's, the tables of the running services, and what they answer.
var m1 = frame.Row{
	ID: "M1", Title: "the routes are those of the specification, of the description and of the tests",
	Fault: frame.Fault{What: "a retired route forgets a method"},
	Run: func(ctx context.Context, env *frame.Env) (*frame.Seen, error) {
		seen := frame.NewSeen()
		doc, err := openapi.Load(env.Root)
		if err != nil {
			return nil, err
		}
		i := routeLists{env: env, seen: seen, doc: doc, methods: map[string][]string{}}
		specified := i.specified()
		mounted, err := sameRoutes(ctx, env, doc, seen)
		if err != nil {
			return nil, err
		}
		i.told(ctx)
		retired := i.retired(ctx)
		strangers := i.strangers(ctx)
		differences := len(seen.Mistakes())
		seen.Promise("differences 0", fmt.Sprintf("differences %d", differences))
		seen.Figure("operations", len(doc.Operations))
		seen.Volume("%d routes of the specification, %d mounted, %d operations described; %d answers of retired routes, %d of paths that are none",
			specified, mounted, len(doc.Operations), retired, strangers)
		return seen, nil
	},
}

// routeLists compares the lists.
type routeLists struct {
	env     *frame.Env
	seen    *frame.Seen
	doc     *openapi.Document
	methods map[string][]string // described, by host and path
}

// specified wants the description to have what the specification names, and beside it
// what was added, pages, and nothing else.
func (i *routeLists) specified() (n int) {
	left := map[string]bool{}
	for _, table := range []string{named, added} {
		for line := range strings.SplitSeq(strings.TrimSpace(table), "\n") {
			words := strings.Fields(line)
			for _, method := range words[1:] {
				left[method+" "+words[0]] = true
			}
		}
	}
	n = len(left)
	found := map[string]bool{}
	for _, op := range i.doc.Operations {
		name := op.Method + " " + op.Path
		i.methods[op.Host+op.Path] = append(i.methods[op.Host+op.Path], op.Method)
		found[name] = true
		i.seen.Check(left[name] || op.Gone() || op.Tag() == "pages" || op.Tag() == "machine", "%s is described and not specified", name)
	}
	for name := range left {
		i.seen.Check(found[name], "%s is specified and not described", name)
	}
	return n
}

// told asks every path which methods it has.
func (i *routeLists) told(ctx context.Context) {
	paths := i.paths()
	frame.Each(len(paths), 6, func(n int) {
		op := paths[n]
		want := append([]string{http.MethodOptions}, i.methods[op.Host+op.Path]...)
		if slices.Contains(want, http.MethodGet) {
			want = append(want, http.MethodHead)
		}
		slices.Sort(want)
		a := patiently(ctx, i.env, client.Request{Method: http.MethodOptions, URL: hostOf(i.env, op.Host, n) + anyPath(op.Path)})
		got := a.Header.Get("Allow")
		i.seen.Check(a.Err == nil && a.Status == http.StatusNoContent && got == strings.Join(want, ", "), "%s%s allows %q, described is %q", op.Host, op.Path, got, want)
	})
}

// paths are the paths of the hosts, each once.
func (i *routeLists) paths() (out []*openapi.Operation) {
	seen := map[string]bool{}
	for _, op := range i.doc.Operations {
		if at := op.Host + op.Path; !seen[at] && !health(op) {
			seen[at] = true
			out = append(out, op)
		}
	}
	return out
}

// retired wants 410 and the successor of every route of an older age, by every method.
func (i *routeLists) retired(ctx context.Context) (n int) {
	for _, op := range i.paths() {
		if !op.Gone() {
			continue
		}
		for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
			n++
			a := patiently(ctx, i.env, client.Request{Method: method, URL: hostOf(i.env, op.Host, n) + anyPath(op.Path)})
			gone := method == http.MethodHead || a.Code() == "gone" && a.Text("successor") == "/api/v1/stations"
			i.seen.Check(a.Err == nil && a.Status == http.StatusGone && gone, "%s %s%s is not gone: %.120s", method, op.Host, op.Path, a)
		}
	}
	return n
}

// strange are paths that are often found on services and never on ours.
var strange = []string{
	"/metrics", "/debug/pprof/", "/debug/vars", "/admin", "/api", "/api/v1", "/api/v2/signals", "/api/debug", "/graphql", "/swagger", "/swagger.json",
	"/openapi.yml", "/actuator/health", "/.env", "/.git/config", "/server-status", "/internal/routes", "/api/admin", "/api/internal", "/static/", "/static",
}

// strangers wants 404 of what nobody described: those, and each beginning of a path.
func (i *routeLists) strangers(ctx context.Context) (n int) {
	for _, host := range openapi.Hosts {
		asked := map[string]bool{}
		for _, path := range strange {
			asked[path] = true
		}
		for _, op := range i.paths() {
			for at := op.Path; op.Host == host && strings.Count(at, "/") > 1; {
				at = at[:strings.LastIndex(at, "/")]
				asked[anyPath(at)] = true
			}
		}
		for path := range asked {
			if i.described(host, path) {
				continue
			}
			n++
			a := patiently(ctx, i.env, client.Request{Method: http.MethodGet, URL: hostOf(i.env, host, n) + path})
			i.seen.Check(a.Err == nil && a.Status == http.StatusNotFound, "%s%s is not described and answers %.120s", host, path, a)
		}
	}
	return n
}

// described tells whether a path of a host is one of the description's.
func (i *routeLists) described(host, path string) bool {
	for at := range i.methods {
		pattern, ours := strings.CutPrefix(at, host+"/")
		if !ours {
			continue
		}
		want, got := strings.Split(pattern, "/"), strings.Split(strings.TrimPrefix(path, "/"), "/")
		if last := want[len(want)-1]; last == "{rest}" && len(got) >= len(want) {
			got = got[:len(want)]
		}
		if slices.EqualFunc(want, got, func(w, g string) bool { return w == g || strings.HasPrefix(w, "{") && g != "" }) {
			return true
		}
	}
	return false
}

// anyPath fills the parameters of a path with a word.
func anyPath(path string) string {
	parts := strings.Split(path, "/")
	for i, part := range parts {
		if strings.HasPrefix(part, "{") {
			parts[i] = "x"
		}
	}
	return strings.Join(parts, "/")
}
