package documents

import (
	"net/http"
	"testing"

	"github.com/signalcast/signalcast/test/system/openapi"
)

// TestInvalidBlocksAreRefused checks that the check of each kind of code block refuses a wrong block.
func TestInvalidBlocksAreRefused(t *testing.T) {
	t.Parallel()
	for _, b := range []block{
		{kind: "json", text: `{}`},
		{kind: "json", args: []string{"Nothing"}, text: `{}`},
		{kind: "json", args: []string{"Error"}, text: `{ "message": "without a code" }`},
		{kind: "json", args: []string{"Error"}, text: `{ "error": `},
		{kind: "json", args: []string{"frames"}, text: `{ "op": "shout" }`},
		{kind: "json", args: []string{"frames"}, text: `{ "op": "gap", "channel": "signals", "from": 1 }`},
		{kind: "json", args: []string{"frames"}, text: `{ "op": "ping", "loud": true }`},
		{kind: "json", args: []string{"settings"}, text: `{ "url": "https://hub.example/nothing" }`},
		{kind: "json", args: []string{"settings"}, text: `{ "url": "https://elsewhere.example/openapi.json" }`},
		{kind: "http", text: "GET /api/nothing\n"},
		{kind: "http", text: "GET {api}/api/predictions\n"},
		{kind: "http", text: `POST /api/dev/keys` + "\n" + `{ "label": 7 }`},
		{kind: "http", text: "GET /api/wire\n299 { }"},
		{
			kind: "http", args: []string{"delivery"},
			text: "POST /x\nX-Unheard-Of: 1\n\n" + `{ "events": [ { "op": "test", "at": "x" } ] }`,
		},
		{kind: "console", text: "make nothing\n"},
		{kind: "console", text: "go run ./nothing\n"},
		{kind: "console", text: "rm -r x\n"},
		{kind: "console", text: "npm nothing --prefix examples/bot-ts\n"},
		{kind: "console", text: "npm ci --prefix nothing\n"},
		{kind: "text", text: "words\n"},
		{kind: "text", args: []string{"stream"}, text: "data: {\n"},
	} {
		if checkedKinds[b.kind](b) == nil {
			t.Errorf("the check of %s %v accepted %s; want an error", b.kind, b.args, b.text)
		}
	}
	if err := checkJSON(block{args: []string{"settings"}, text: `{ "url": "https://hub.example/openapi.json" }`}); err != nil {
		t.Errorf("checkSettings of valid settings: %v", err)
	}
	if openapi.ForTest(t).Lookup("hub", http.MethodGet, "/api/signals/x/events?y=z") == nil {
		t.Error("the operation for a path with a parameter and a query was not found")
	}
}

// TestLikeOutput checks that likeOutput compares the output on a page with real output correctly.
func TestLikeOutput(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		shown, came string
		like        bool
	}{
		{"dk_\n", "dk_\n", true},
		{"a\nb\n", "a\nb", true},
		{"a\n", "a\nb\n", false},
		{"a\nb\n", "a\n", false},
		{"a.c\n", "abc\n", false},
		{"a…d\n", "abcd\n", true},
		{"a…d\n", "ab\ncd\n", false},
		{"…\nlast\n", "one\ntwo\nlast\n", true},
		{"…\nlast\n", "one\ntwo\n", false},
		{"a\n", "", false},
	} {
		if likeOutput(c.shown, c.came) != c.like {
			t.Errorf("likeOutput(%q, %q) is %v; want the opposite", c.shown, c.came, !c.like)
		}
	}
}
