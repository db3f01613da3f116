package httpapi

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/httpcache"
)

// readyMade returns the handler of a document that is made at the start: GET /openapi.json, /docs/openapi.json,
// /docs/openapi.yaml and /llms.txt.
func readyMade(p *httpcache.Page) echo.HandlerFunc {
	return func(c echo.Context) error {
		p.WriteTo(c.Response(), c.Request())
		return nil
	}
}

// contract has the parts of the OpenAPI description that the overview shows.
type contract struct {
	Info struct{ Title, Summary, Version string }
	Tags []struct{ Name, Description string }

	Paths map[string]map[string]json.RawMessage
}

// overview returns the text of /llms.txt: the operations of the description and where they are documented, for agents. An invalid
// description gives a text without operations.
func overview(hubURL string, description []byte) []byte {
	var doc contract
	_ = json.Unmarshal(description, &doc) // what is missing is left out
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
	b.WriteString("Reads are open to everybody. " +
		"Writes take an operator key, a session, or the token of an app that a person connected.\n\n")
	fmt.Fprintf(&b, "## The contract, version %s\n\n", doc.Info.Version)
	for _, line := range [...][3]string{
		{"Guides", "/docs/guide/", "a quick start, the words, the feed, scores, sign-in, agents"},
		{"Reference", "/docs", "every operation, to read"},
		{"OpenAPI 3.1, JSON", "/openapi.json", "the same for programs"},
		{"OpenAPI 3.1, YAML", "/docs/openapi.yaml", "the same as it is written"},
		{"Issuer", "/api/protocol/v1", "scopes, endpoints and limits for apps"},
		{"Keys and apps", "/dev", "where an operator mints a key or registers an app"},
	} {
		fmt.Fprintf(&b, "- [%s](%s%s): %s\n", line[0], hubURL, line[1], line[2])
	}
	b.WriteString("\n## Operations\n\n")
	for _, tag := range doc.Tags {
		if count[tag.Name] > 0 {
			fmt.Fprintf(&b, "- [%s](%s/docs#/%s), %d: %s\n", tag.Name, hubURL, tag.Name, count[tag.Name], tag.Description)
		}
	}
	return []byte(b.String())
}
