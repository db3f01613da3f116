package httpapi

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/httpcache"
)

// servePage returns a handler that serves a document built at start: GET /openapi.json, /docs/openapi.json, /docs/openapi.yaml or
// /llms.txt.
func servePage(p *httpcache.Page) echo.HandlerFunc {
	return func(c echo.Context) error {
		p.WriteTo(c.Response(), c.Request())
		return nil
	}
}

// heatmapSource matches the source of the heatmap in the enumeration of its values, in JSON and in YAML.
var heatmapSource = regexp.MustCompile(`polymarket("?,\s*"?cache)`)

// localized returns the OpenAPI document with the addresses of this installation instead of those of the repository, and with its
// path segment of the primary venue. It accepts JSON and YAML.
func (c Config) localized(document []byte) []byte {
	text := strings.NewReplacer(
		"https://hub.example", c.HubURL, "https://api.example", cmp.Or(c.APIURL, c.HubURL),
		"https://clock.example", cmp.Or(c.ClockURL, c.HubURL), "/api/polymarket/", "/api/"+c.VenueA+"/",
	).Replace(string(document))
	return heatmapSource.ReplaceAll([]byte(text), []byte(c.VenueA+"$1"))
}

// Description returns the OpenAPI document of this installation as JSON.
func (c Config) Description() []byte { return c.localized(c.OpenAPI) }

// apiDescription has the members of the OpenAPI document that the function overview reads.
type apiDescription struct {
	Info struct{ Title, Summary, Version string }
	Tags []struct{ Name, Description string }

	Paths map[string]map[string]json.RawMessage
}

// overview returns the text of /llms.txt, which lists the documentation and the groups of API operations for agents. description
// is the OpenAPI document as JSON; if it is invalid, the text lists no groups.
func overview(hubURL string, description []byte) []byte {
	var doc apiDescription
	_ = json.Unmarshal(description, &doc) // members that cannot be read stay empty
	count := map[string]int{}
	for _, path := range slices.Sorted(maps.Keys(doc.Paths)) {
		for _, raw := range doc.Paths[path] {
			var op struct{ Tags []string }
			if json.Unmarshal(raw, &op) == nil && len(op.Tags) == 1 {
				count[op.Tags[0]]++
			}
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n> %s\n\n", doc.Info.Title, doc.Info.Summary)
	b.WriteString("Reads need no credential. " +
		"Writes need an operator key, a session, or the token of an app that a user has connected.\n\n")
	fmt.Fprintf(&b, "## API version %s\n\n", doc.Info.Version)
	for _, line := range [...][3]string{
		{"Guides", "/docs/guide/", "quick start, concepts, live feed, scoring, sign-in, agents"},
		{"Reference", "/docs", "every operation, in a browser"},
		{"OpenAPI 3.1, JSON", "/openapi.json", "the API description as JSON"},
		{"OpenAPI 3.1, YAML", "/docs/openapi.yaml", "the API description as YAML"},
		{"Issuer", "/api/protocol/v1", "scopes, endpoints and limits for apps"},
		{"Keys and apps", "/dev", "create an operator key or register an app"},
	} {
		fmt.Fprintf(&b, "- [%s](%s%s): %s\n", line[0], hubURL, line[1], line[2])
	}
	b.WriteString("\n## Operations\n\n")
	for _, tag := range doc.Tags {
		if count[tag.Name] > 0 {
			fmt.Fprintf(&b, "- [%s](%s/docs#%s), %d: %s\n", tag.Name, hubURL, tag.Name, count[tag.Name], tag.Description)
		}
	}
	return []byte(b.String())
}
