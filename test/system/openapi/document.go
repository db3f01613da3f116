package openapi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
)

// Hosts lists the services to which the OpenAPI document assigns operations.
var Hosts = []string{"hub", "api", "clock"}

// Document is the OpenAPI document of the repository. Load closes its object schemas, so that Check rejects a response with a
// member that the document does not list.
type Document struct {
	Operations []*Operation // operations of all hosts, sorted by path, host and method

	spec *openapi3.T
}

// Operation is one HTTP method of one path on one host. Host is one of Hosts.
type Operation struct {
	Host, Method, Path string

	spec *openapi3.T
	item *openapi3.PathItem
	op   *openapi3.Operation
}

// plainText registers the body decoder of text/plain for more media types, so that the OpenAPI library can validate bodies of
// these types.
var plainText = sync.OnceFunc(func() {
	for _, kind := range []string{
		"text/html", "text/css", "text/csv", "text/javascript", "image/svg+xml", "image/png", "image/jpeg", "image/x-icon", "video/mp2t",
		"application/jsonl", "application/yaml", "application/xml", "application/atom+xml",
	} {
		openapi3filter.RegisterBodyDecoder(kind, openapi3filter.RegisteredBodyDecoder("text/plain"))
	}
})

// Load reads the OpenAPI document that `make gen` generates. root is the root directory of the repository.
func Load(root string) (*Document, error) {
	plainText()
	loader := openapi3.NewLoader()
	spec, err := loader.LoadFromFile(filepath.Join(root, "proto/openapi/openapi.json"))
	if err != nil {
		return nil, fmt.Errorf("read the OpenAPI document: %w", err)
	}
	d := &Document{spec: spec}
	closed := map[*openapi3.Schema]bool{}
	for _, ref := range spec.Components.Schemas {
		closeObjects(ref, closed)
	}
	for path, item := range spec.Paths.Map() {
		for method, op := range item.Operations() {
			hosts, err := hostsOf(op)
			if err != nil {
				return nil, fmt.Errorf("%s %s: %w", method, path, err)
			}
			for _, res := range op.Responses.Map() {
				for _, media := range res.Value.Content {
					closeObjects(media.Schema, closed)
				}
			}
			for _, host := range hosts {
				d.Operations = append(d.Operations, &Operation{Host: host, Method: method, Path: path, spec: spec, item: item, op: op})
			}
		}
	}
	slices.SortFunc(d.Operations, func(a, b *Operation) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Host, b.Host), cmp.Compare(a.Method, b.Method))
	})
	return d, nil
}

func hostsOf(op *openapi3.Operation) (hosts []string, err error) {
	if op.Servers == nil {
		return nil, errors.New("the operation names no server")
	}
	for _, server := range *op.Servers {
		name := strings.TrimSuffix(strings.TrimPrefix(server.URL, "https://"), ".example")
		if !slices.Contains(Hosts, name) {
			return nil, fmt.Errorf("the operation names an unknown server %s", server.URL)
		}
		hosts = append(hosts, name)
	}
	return hosts, nil
}

// closeObjects changes a schema and the schemas in it, so that objects must not have unlisted members. It does not change a
// schema without listed members or with a rule for additional members. done contains the schemas that are already processed.
func closeObjects(ref *openapi3.SchemaRef, done map[*openapi3.Schema]bool) {
	if ref == nil || ref.Value == nil || done[ref.Value] {
		return
	}
	s := ref.Value
	done[s] = true
	mergeParts(s)
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

// mergeParts replaces the list allOf of a schema by the members of its parts. Otherwise a part that forbids additional members
// would forbid those of the other parts.
func mergeParts(s *openapi3.Schema) {
	if len(s.AllOf) == 0 {
		return
	}
	members := openapi3.Schemas{}
	for _, part := range s.AllOf {
		mergeParts(part.Value)
		maps.Copy(members, part.Value.Properties)
		s.Required = append(s.Required, part.Value.Required...)
	}
	s.Type, s.Properties, s.AllOf = &openapi3.Types{openapi3.TypeObject}, members, nil
}

// Version returns the version of the API in the document.
func (d *Document) Version() string { return d.spec.Info.Version }

// Spec returns the OpenAPI operation object.
func (o *Operation) Spec() *openapi3.Operation { return o.op }

// Name returns the method, the host and the path, for example "GET hub/api/signals/feed".
func (o *Operation) Name() string { return o.Method + " " + o.Host + o.Path }

// Knows reports whether the document describes a response with the status.
func (o *Operation) Knows(status int) bool { return o.op.Responses.Status(status) != nil }

// Gone reports whether the operation is retired: the document describes a response with status 410 and none with 200.
func (o *Operation) Gone() bool { return o.Knows(http.StatusGone) && !o.Knows(http.StatusOK) }

// Open reports whether the document allows requests from pages of any origin.
func (o *Operation) Open() bool { return o.op.Extensions["x-signalcast-cors-open"] == true }

// Has reports whether a host has an operation for a method and a URL. A path parameter matches a non-empty segment without a
// percent sign and without a dot.
func (d *Document) Has(host, method, address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	got := strings.Split(u.EscapedPath(), "/")
	return slices.ContainsFunc(d.Operations, func(o *Operation) bool {
		if o.Host != host || o.Method != method {
			return false
		}
		return slices.EqualFunc(strings.Split(o.Path, "/"), got, func(want, is string) bool {
			return want == is || strings.HasPrefix(want, "{") && is != "" && !strings.ContainsAny(is, "%.")
		})
	})
}

// Tag returns the first tag of the operation, or an empty string.
func (o *Operation) Tag() string {
	if len(o.op.Tags) == 0 {
		return ""
	}
	return o.op.Tags[0]
}

// Takes reports whether the operation accepts credentials of the named security scheme.
func (o *Operation) Takes(scheme string) bool {
	if o.op.Security == nil {
		return false
	}
	return slices.ContainsFunc(*o.op.Security, func(r openapi3.SecurityRequirement) bool {
		_, named := r[scheme]
		return named
	})
}

// Public reports whether the operation requires no credential.
func (o *Operation) Public() bool {
	return o.op.Security == nil || len(*o.op.Security) == 0 ||
		slices.ContainsFunc(*o.op.Security, func(r openapi3.SecurityRequirement) bool { return len(r) == 0 })
}

// Check returns an error unless the document describes a response of the operation with this status, header and body.
func (o *Operation) Check(ctx context.Context, url string, status int, header http.Header, body []byte) error {
	if !o.Knows(status) {
		return fmt.Errorf("status %d is not documented", status)
	}
	r, err := http.NewRequestWithContext(ctx, o.Method, url, nil)
	if err != nil {
		return err
	}
	input := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{
			Request: r, Route: &routers.Route{Spec: o.spec, Path: o.Path, PathItem: o.item, Method: o.Method, Operation: o.op},
		},
		Status: status, Header: header, Options: &openapi3filter.Options{IncludeResponseStatus: true},
	}
	input.SetBodyBytes(body)
	return openapi3filter.ValidateResponse(ctx, input)
}

// Schemes returns the sorted names of all security schemes that the operation accepts.
func (o *Operation) Schemes() []string {
	var out []string
	if o.op.Security != nil {
		for _, r := range *o.op.Security {
			out = append(out, slices.Collect(maps.Keys(r))...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// CheckSchema returns an error unless the value matches the named schema of the document.
func (d *Document) CheckSchema(name string, value any) error {
	ref := d.spec.Components.Schemas[name]
	if ref == nil {
		return fmt.Errorf("the document has no schema %s", name)
	}
	return ref.Value.VisitJSON(value, openapi3.EnableJSONSchema2020(), openapi3.MultiErrors())
}
