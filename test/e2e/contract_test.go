package e2e

import (
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
)

// operation is one method of one path on one host.
type operation struct {
	host, method, path string
	item               *openapi3.PathItem
	op                 *openapi3.Operation
}

// name is how failures call it.
func (o *operation) name() string { return o.host + " " + o.method + " " + o.path }

// open tells whether pages of any origin may read it.
func (o *operation) open() bool {
	if o.path == "/healthz" || o.path == "/readyz" {
		return o.host != "hub" // as its description says
	}
	tagged, _ := o.op.Extensions["x-signalcast-cors-open"].(bool)
	return tagged
}

// document is the description, with every object closed: a member that it does
// not name is a mistake of ours, though readers would ignore it.
type document struct {
	spec *openapi3.T
	ops  []*operation
}

var described = sync.OnceValues(func() (*document, error) {
	loader := openapi3.NewLoader()
	spec, err := loader.LoadFromFile(filepath.Join(repo, "docs/protocol/openapi.yaml"))
	if err != nil {
		return nil, err
	}
	if err := spec.Validate(loader.Context); err != nil {
		return nil, err
	}
	for _, kind := range []string{"text/html", "text/css", "text/csv", "text/javascript", "image/svg+xml", "image/png", "application/jsonl", "application/yaml"} {
		openapi3filter.RegisterBodyDecoder(kind, openapi3filter.RegisteredBodyDecoder("text/plain"))
	}
	d := &document{spec: spec}
	closed := map[*openapi3.Schema]bool{}
	for _, ref := range spec.Components.Schemas {
		closeObjects(ref, closed)
	}
	for path, item := range spec.Paths.Map() {
		for method, op := range item.Operations() {
			for _, res := range op.Responses.Map() {
				for _, media := range res.Value.Content {
					closeObjects(media.Schema, closed)
				}
			}
			hosts, err := hostsOf(op)
			if err != nil {
				return nil, fmt.Errorf("%s %s: %w", method, path, err)
			}
			for _, host := range hosts {
				d.ops = append(d.ops, &operation{host: host, method: method, path: path, item: item, op: op})
			}
		}
	}
	return d, nil
})

func hostsOf(op *openapi3.Operation) (hosts []string, err error) {
	if op.Servers == nil {
		return nil, fmt.Errorf("names no server")
	}
	for _, server := range *op.Servers {
		for _, host := range []string{"hub", "api", "clock"} {
			if server.URL == "https://"+host+".example" {
				hosts = append(hosts, host)
			}
		}
	}
	if len(hosts) != len(*op.Servers) {
		return nil, fmt.Errorf("names an unknown server")
	}
	return hosts, nil
}

// closeObjects forbids members that a schema does not name. Objects of free
// form, and those that say what their other members are, stay as they are.
func closeObjects(ref *openapi3.SchemaRef, done map[*openapi3.Schema]bool) {
	if ref == nil || ref.Value == nil || done[ref.Value] {
		return
	}
	s := ref.Value
	done[s] = true
	if len(s.Properties) > 0 && s.AdditionalProperties.Has == nil && s.AdditionalProperties.Schema == nil {
		no := false
		s.AdditionalProperties.Has = &no
	}
	closeObjects(s.Items, done)
	for _, p := range s.Properties {
		closeObjects(p, done)
	}
	for _, list := range []openapi3.SchemaRefs{s.OneOf, s.AnyOf, s.AllOf} {
		for _, p := range list {
			closeObjects(p, done)
		}
	}
}

// find gives the operations on the path that a request goes to, one for each
// method: fixed segments win over parameters, and {rest} takes what remains.
func (d *document) find(host, path string) map[string]*operation {
	best, found := "", map[string]*operation{}
	for _, o := range d.ops {
		if o.host != host || !fits(o.path, path) {
			continue
		}
		switch {
		case o.path == best:
		case best == "" || strings.Count(o.path, "{") < strings.Count(best, "{"):
			best, found = o.path, map[string]*operation{}
		default:
			continue
		}
		found[o.method] = o
	}
	return found
}

func fits(pattern, path string) bool {
	want, got := strings.Split(pattern, "/"), strings.Split(path, "/")
	for i, part := range want {
		switch {
		case part == "{rest}":
			return len(got) > i
		case i >= len(got), part != got[i] && (!strings.HasPrefix(part, "{") || got[i] == ""):
			return false
		}
	}
	return len(want) == len(got)
}

// methods lists what Allow says on a path.
func methods(found map[string]*operation) string {
	list := []string{http.MethodOptions}
	for method := range found {
		list = append(list, method)
	}
	if found[http.MethodGet] != nil {
		list = append(list, http.MethodHead)
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}

// route is an operation in the form that the validator takes.
func (o *operation) route(spec *openapi3.T) *routers.Route {
	return &routers.Route{Spec: spec, Path: o.path, PathItem: o.item, Method: o.method, Operation: o.op}
}

// shared tells for how many seconds caches may keep a good answer: none when the
// description is silent.
func (o *operation) shared() (seconds []int) {
	number := func(v any) {
		if n, ok := v.(float64); ok {
			seconds = append(seconds, int(n))
		}
	}
	switch v := o.op.Extensions["x-signalcast-shared-cache-seconds"].(type) {
	case map[string]any:
		for _, n := range v {
			number(n)
		}
	default:
		number(v)
	}
	return seconds
}
