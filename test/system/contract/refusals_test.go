package contract

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"

	"github.com/signalcast/signalcast/test/system/openapi"
	"github.com/signalcast/signalcast/test/system/stack"
)

// TestUnknownCredentialIsRefused sends a request to every operation of the OpenAPI document except the health checks, with an
// invalid credential and with ids that do not exist. Each answer must have a status from 400 to 499.
func TestUnknownCredentialIsRefused(t *testing.T) {
	t.Parallel()
	s := system(t)
	for _, o := range openapi.ForTest(t).Operations {
		if o.Health() {
			continue
		}
		t.Run(o.Name(), func(t *testing.T) {
			t.Parallel()
			a := stack.Send(t, o.Method, s.Base(o.Host, 0)+o.Fill(nil), stack.Bearer("a.b.c"), stack.Header("Accept", "application/json"))
			if a.Status < 400 || a.Status >= 500 {
				t.Errorf("the answer is %v; want a status from 400 to 499", a)
			}
		})
	}
}

// TestOtherMethodsAreRefused sends requests with unsupported methods to every path of the OpenAPI document and requires
// the status 405. It does not check the Allow header, because package openapi checks it in every answer.
func TestOtherMethodsAreRefused(t *testing.T) {
	t.Parallel()
	s := system(t)
	methods := map[string][]string{}
	paths := map[string]*openapi.Operation{}
	for _, o := range openapi.ForTest(t).Operations {
		methods[o.Host+o.Path] = append(methods[o.Host+o.Path], o.Method)
		paths[o.Host+o.Path] = o
	}
	for path, o := range paths {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
				if !slices.Contains(methods[path], method) {
					stack.Send(t, method, s.Base(o.Host, 0)+o.Fill(nil)).RequireError(http.StatusMethodNotAllowed, "method_not_allowed")
				}
			}
		})
	}
}

// TestDocumentIsServed checks that the hub serves the OpenAPI document of the repository, as JSON and YAML with the
// same content, and with the addresses of the system.
func TestDocumentIsServed(t *testing.T) {
	t.Parallel()
	s := system(t)
	one, two := get(t, s.Hub+"/openapi.json").Require(http.StatusOK), get(t, s.Hub+"/docs/openapi.json").Require(http.StatusOK)
	if string(one.Body) != string(two.Body) || one.Header.Get("ETag") != two.Header.Get("ETag") {
		t.Error("/openapi.json and /docs/openapi.json differ")
	}
	root, err := stack.Root()
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile(filepath.Join(root, "docs/protocol/openapi.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for example, address := range map[string]string{
		"https://hub.example": s.Hub, "https://api.example": s.API, "https://clock.example": s.Clock,
	} {
		source = bytes.ReplaceAll(source, []byte(example), []byte(address))
	}
	if yaml := get(t, s.Hub+"/docs/openapi.yaml").Require(http.StatusOK); string(yaml.Body) != string(source) {
		t.Error("/docs/openapi.yaml differs from docs/protocol/openapi.yaml with the addresses of the system")
	}
	if diff := cmp.Diff(decoded(t, source), decoded(t, one.Body)); diff != "" {
		t.Errorf("docs/protocol/openapi.yaml and /openapi.json differ; run make gen (-want +got):\n%.2000s", diff)
	}
}

// decoded returns an OpenAPI document as decoded JSON values.
func decoded(t *testing.T, document []byte) (out any) {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(document)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := doc.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	return out
}
