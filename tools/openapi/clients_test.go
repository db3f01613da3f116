package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

const statusPage = "| code | status | meaning |\n" +
	"| `rate_limited` | 429 | More than allowed. Carries `Retry-After`. | `limit` | all |\n" +
	"| `invalid_url` | 400 | |\n" +
	"| `invalid_frame` | frame | Not one JSON object. |\n" +
	"| `db` | the database |\n"

func TestCodes(t *testing.T) {
	t.Parallel()
	codes, err := statusCodes([]byte(statusPage))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range codes {
		got = append(got, c.goName()+" "+c.status+" "+c.says())
	}
	want := "ErrRateLimited 429 More than allowed, ErrInvalidURL 400 a required member or parameter is missing, ErrInvalidFrame frame Not one JSON object"
	if s := strings.Join(got, ", "); s != want {
		t.Errorf("%s, want %s", s, want)
	}
	for name, bad := range map[string]string{"twice": statusPage + statusPage, "none": ""} {
		if codes, err := statusCodes([]byte(bad)); err == nil {
			t.Errorf("%s gave %v", name, codes)
		}
	}
}

// TestPage checks that statusCodes reads every table row of docs/protocol/errors.md that has a code.
func TestPage(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../../docs/protocol/errors.md")
	if err != nil {
		t.Fatal(err)
	}
	codes, err := statusCodes(raw)
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, c := range codes {
		known[c.name] = true
	}
	for line := range strings.Lines(string(raw)) {
		name, rest, _ := strings.Cut(strings.TrimPrefix(line, "| `"), "`")
		if strings.HasPrefix(line, "| `") && strings.Count(rest, "|") >= 4 && !known[name] {
			t.Errorf("%s is not read", name)
		}
	}
	if len(codes) < 100 || !known["already_predicted"] || known["db"] {
		t.Errorf("%d codes", len(codes))
	}
}

func TestRoutes(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../../proto/openapi/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	parse := func(raw string) (root map[string]any) {
		if err := json.Unmarshal([]byte(raw), &root); err != nil {
			t.Fatal(err)
		}
		return root
	}
	ops, err := routesOf(parse(string(raw)))
	if err != nil {
		t.Fatal(err)
	}
	by := map[string]route{}
	for _, o := range ops {
		by[o.Method+" "+o.Path] = o
	}
	for _, want := range []route{
		{Method: "POST", Path: "/api/predictions", Host: "hub", Bearer: true, Session: true, Keyed: true},
		{Method: "POST", Path: "/api/protocol/v1/messages", Host: "hub", Again: true},
		{Method: "POST", Path: "/api/dev/keys", Host: "hub", Bearer: true},
		{Method: "GET", Path: "/api/v1/signals", Host: "api", Again: true},
		{Method: "GET", Path: "/api/operator/{handle}/record", Host: "hub", Again: true, Stream: true},
		{Method: "GET", Path: "/program/now", Host: "clock", Again: true},
	} {
		if got := by[want.Method+" "+want.Path]; got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
	if by["GET /sign-in"].Path != "" {
		t.Error("a page is among the operations")
	}
	if _, err := routesOf(parse(strings.ReplaceAll(string(raw), `"submitMessage"`, `"sendMessage"`))); err == nil {
		t.Error("the list of writes that may be sent twice has a name that is no operation")
	}
}
