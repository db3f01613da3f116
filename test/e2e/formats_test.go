package e2e

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
)

var uuidForm = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)

// formats lists the texts that are not of the format that their schema names: the
// validator takes formats for remarks. Of several forms one has to fit.
func formats(ref *openapi3.SchemaRef, value any, at string) (wrong []string) {
	if ref == nil || ref.Value == nil {
		return nil
	}
	s := ref.Value
	for _, list := range []openapi3.SchemaRefs{s.OneOf, s.AnyOf} {
		var first []string
		for i, one := range list {
			w := formats(one, value, at)
			if len(w) == 0 {
				first = nil
				break
			}
			if i == 0 {
				first = w
			}
		}
		wrong = append(wrong, first...)
	}
	for _, one := range s.AllOf {
		wrong = append(wrong, formats(one, value, at)...)
	}
	switch v := value.(type) {
	case string:
		if !hasFormat(s.Format, v) {
			wrong = append(wrong, fmt.Sprintf("%s: %.80q is no %s", at, v, s.Format))
		}
	case []any:
		for i, item := range v {
			wrong = append(wrong, formats(s.Items, item, fmt.Sprintf("%s[%d]", at, i))...)
		}
	case map[string]any:
		for name, member := range v {
			if p := s.Properties[name]; p != nil {
				wrong = append(wrong, formats(p, member, at+"."+name)...)
			} else {
				wrong = append(wrong, formats(s.AdditionalProperties.Schema, member, at+"."+name)...)
			}
		}
	}
	return wrong
}

func hasFormat(format, v string) bool {
	switch format {
	case "uuid":
		return uuidForm.MatchString(v)
	case "uri":
		u, err := url.Parse(v)
		return err == nil && u.IsAbs()
	case "date-time":
		_, err := time.Parse(time.RFC3339, v)
		return err == nil
	case "date":
		_, err := time.Parse(time.DateOnly, v)
		return err == nil
	}
	return true
}

func TestFormats(t *testing.T) {
	t.Parallel()
	text := func(format string) *openapi3.SchemaRef {
		return openapi3.NewStringSchema().WithFormat(format).NewRef()
	}
	s := openapi3.NewObjectSchema().WithPropertyRef("id", text("uuid")).WithPropertyRef("at", text("date-time")).NewRef()
	s.Value.WithPropertyRef("list", openapi3.NewArraySchema().WithItems(text("uri").Value).NewRef())
	good := map[string]any{"id": "0199f0a4-2222-7000-8000-000000000002", "at": "2026-09-18T00:00:00.000Z", "list": []any{"https://a.example/x"}}
	bad := map[string]any{"id": "0199F0A4", "at": "18.9.2026", "list": []any{"/x", "https://a.example"}}
	if w := formats(s, good, ""); len(w) != 0 {
		t.Error(w)
	}
	if w := formats(s, bad, ""); len(w) != 3 {
		t.Error(w)
	}
	either := &openapi3.SchemaRef{Value: &openapi3.Schema{OneOf: openapi3.SchemaRefs{text("uuid"), text("date")}}}
	if w := append(formats(either, "2026-09-18", ""), formats(either, "x", "")...); len(w) != 1 {
		t.Error(w)
	}
}

// TestEveryOperationRefuses: a bearer of a kind that nobody takes is refused by every
// operation, as it is described.
func TestEveryOperationRefuses(t *testing.T) {
	t.Parallel()
	s := up(t)
	doc, err := described()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, o := range doc.ops {
		if !o.begins("4") {
			continue // health, which asks nobody who they are
		}
		n++
		a := send(t, o.method, s.base(o.host)+target(o.path, "native-0123456789abcdef"), with("Authorization", "Bearer a.b.c"), with("Accept", "application/json"))
		if a.status < 400 || a.status >= 500 {
			t.Errorf("%s: %d", o.name(), a.status)
		}
	}
	if want := len(doc.ops) - 6; n < want { // two of health on three hosts
		t.Errorf("%d of %d operations document a refusal", n, len(doc.ops))
	}
	get(t, s.Hub+"/healthz").is(http.StatusOK)
}
