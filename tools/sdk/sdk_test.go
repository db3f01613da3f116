package main

import (
	"os"
	"strings"
	"testing"
)

const page = "| code | status | meaning |\n" +
	"| `rate_limited` | 429 | More than allowed. Carries `Retry-After`. | `limit` | all |\n" +
	"| `invalid_url` | 400 | |\n" +
	"| `invalid_frame` | frame | Not one JSON object. |\n" +
	"| `db` | the database |\n"

func TestCodes(t *testing.T) {
	t.Parallel()
	codes, err := codesOf([]byte(page))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range codes {
		got = append(got, c.goName()+" "+c.status+" "+c.says())
	}
	want := "ErrRateLimited 429 More than allowed, ErrInvalidURL 400 a required member or parameter is not there, ErrInvalidFrame frame Not one JSON object"
	if s := strings.Join(got, ", "); s != want {
		t.Errorf("%s, want %s", s, want)
	}
	for name, bad := range map[string]string{"twice": page + page, "none": ""} {
		if codes, err := codesOf([]byte(bad)); err == nil {
			t.Errorf("%s gave %v", name, codes)
		}
	}
}

// TestPage: no row of the page is missed, whatever its form.
func TestPage(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../../docs/protocol/errors.md")
	if err != nil {
		t.Fatal(err)
	}
	codes, err := codesOf(raw)
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

func TestOperations(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../../proto/openapi/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	ops, err := operations(raw)
	if err != nil {
		t.Fatal(err)
	}
	by := map[string]operation{}
	for _, o := range ops {
		by[o.Method+" "+o.Path] = o
	}
	for _, want := range []operation{
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
	if _, err := operations([]byte(strings.ReplaceAll(string(raw), `"submitMessage"`, `"sendMessage"`))); err == nil {
		t.Error("the list of writes that may be sent twice has a name that nobody has")
	}
}
