package openapi_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/signalcast/signalcast/test/system/openapi"
)

func find(t *testing.T, d *openapi.Document, name string) *openapi.Operation {
	t.Helper()
	i := slices.IndexFunc(d.Operations, func(o *openapi.Operation) bool { return o.Name() == name })
	if i < 0 {
		t.Fatalf("%s is not documented", name)
	}
	return d.Operations[i]
}

func TestAnswersAreCheckedAgainstTheDocument(t *testing.T) {
	t.Parallel()
	o := find(t, openapi.ForTest(t), "GET hub/api/signals/feed")
	header := http.Header{"Content-Type": {"application/json; charset=utf-8"}}
	for body, fits := range map[string]bool{
		`{"type":"open","signals":[],"count":0}`:           true,
		`{"type":"open","signals":null,"count":0}`:         false,
		`{"type":"open","signals":[]}`:                     false,
		`{"type":"open","signals":[],"count":0,"extra":1}`: false,
		`<html>`: false,
	} {
		if err := o.Check(t.Context(), "http://127.0.0.1/api/signals/feed", 200, header, []byte(body)); (err == nil) != fits {
			t.Errorf("check of the body %s: %v", body, err)
		}
	}
	if o.Check(t.Context(), "http://127.0.0.1/api/signals/feed", 418, header, []byte(`{"type":"open","signals":[],"count":0}`)) == nil || !o.Public() || o.Knows(503) {
		t.Error("an undocumented answer was accepted; want an error")
	}
}

func TestCredentialsOfOperations(t *testing.T) {
	t.Parallel()
	d := openapi.ForTest(t)
	keys, call := find(t, d, "GET hub/api/dev/keys"), find(t, d, "POST hub/api/predictions")
	if keys.Public() || !keys.Takes("identityToken") || keys.Takes("operatorKey") || !call.Takes("operatorKey") || call.Gone() {
		t.Error("the credentials of the operations differ from the document")
	}
	if !find(t, d, "GET api/api/v1/channels").Gone() || !find(t, d, "GET hub/dev").Public() {
		t.Error("Gone or Public is false; want true for a retired and a public route")
	}
}

func TestTextPaths(t *testing.T) {
	t.Parallel()
	text := openapi3.NewStringSchema()
	s := openapi3.NewObjectSchema().WithProperty("b", text).WithProperty("n", openapi3.NewIntegerSchema()).
		WithProperty("a", openapi3.NewArraySchema().WithItems(openapi3.NewObjectSchema().WithProperty("c", text)))
	var got []string
	for _, p := range openapi.TextPaths(s) {
		got = append(got, strings.Join(p, "."))
	}
	if strings.Join(got, " ") != "a.0.c b" {
		t.Errorf("the text paths are %q; want a.0.c and b", got)
	}
}
