package e2e

import (
	"fmt"
	"net/url"
	"regexp"
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
