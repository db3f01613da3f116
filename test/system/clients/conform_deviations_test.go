package clients

import (
	"bytes"
	"net/http"
	"slices"
	"strings"

	"github.com/signalcast/signalcast/test/system/stack"
)

// deviation is one difference between a server and the protocol, which `signalcast conform` must detect.
type deviation struct {
	name    string
	caught  string   // id of the check that must detect the deviation
	also    []string // ids of further checks that the deviation affects
	request func(*http.Request)
	answer  func(*http.Request, *http.Response, any) any // changes the JSON of an answer
	text    func(*http.Request, []byte) []byte           // changes an answer that is not JSON
	frames  bool                                         // the websocket omits one event
}

// accepted is the answer to an accepted call.
var accepted = stack.JSON{"ok": true, "id": "0199f0a4-0000-7000-8000-00000000aaaa"}

var deviations = []deviation{
	{
		name: "a NO call with the price of YES", caught: "prices.side", also: []string{"call.filed", "call.locked", "call.protocol"},
		answer: objects(func(o map[string]any) {
			if p, ok := o["priceAtPrediction"].(float64); ok && o["direction"] == "NO" {
				o["priceAtPrediction"] = 10000 - p
			}
		}),
	},
	{
		name: "the raw id of an operator", caught: "ids.masked", also: []string{"shape.signals"},
		answer: on("GET", "/api/signals/0", objects(func(o map[string]any) {
			if _, there := o["privyId"]; there {
				o["privyId"] = "did:privy:clx0testuser0001"
			}
		})),
	},
	{
		name: "a second call is accepted", caught: "call.locked",
		answer: on("POST", "/api/predictions", refusal("already_predicted", accepted)),
	},
	{
		name: "a score that is too high by one", caught: "score.formula", also: []string{"resolve.score"},
		answer: on("GET", "/api/signals/0", objects(func(o map[string]any) {
			if n, ok := o["score"].(float64); ok && o["privyId"] != nil && o["status"] != "void" {
				o["score"] = n + 1
			}
		})),
	},
	{
		name: "errors without a code", caught: "errors.form",
		answer: func(_ *http.Request, a *http.Response, v any) any {
			if a.StatusCode == http.StatusNotFound {
				return stack.JSON{"message": "there is no such thing"}
			}
			return v
		},
	},
	{
		name: "500 for a bad cursor", caught: "lists.limits",
		answer: func(r *http.Request, a *http.Response, v any) any {
			if r.URL.Query().Get("cursor") == "zz" {
				a.StatusCode = http.StatusInternalServerError
				return stack.JSON{"error": "internal_error"}
			}
			return v
		},
	},
	{
		name: "errors without CORS headers", caught: "cors.open",
		answer: on("GET", "/api/network/", func(_ *http.Request, a *http.Response, v any) any {
			if a.StatusCode >= 400 {
				a.Header.Del("Access-Control-Allow-Origin")
			}
			return v
		}),
	},
	{
		name: "a missing event in the feed", caught: "feed.sequence",
		answer: on("GET", "/api/v1/feed", func(r *http.Request, _ *http.Response, v any) any {
			if o, ok := v.(map[string]any); ok && r.URL.Query().Has("after") {
				if items, _ := o["items"].([]any); len(items) > 4 {
					o["items"] = slices.Delete(items, 2, 3)
				}
			}
			return v
		}),
	},
	{name: "a websocket without one event", caught: "feed.socket", frames: true},
	{
		name: "a second outcome is accepted", caught: "resolve.once",
		answer: on("POST", "/api/resolution/finalize", refusal("already_resolved", stack.JSON{"ok": true})),
	},
	{
		name: "ETags that never match", caught: "cache.tags",
		request: func(r *http.Request) { r.Header.Del("If-None-Match") },
	},
	{
		name: "a leaderboard in another order", caught: "boards.order",
		answer: on("GET", "/api/v1/signals/leaderboard", func(_ *http.Request, _ *http.Response, v any) any {
			rows, _ := v.(map[string]any)["leaderboard"].([]any)
			slices.Reverse(rows)
			for i, row := range rows {
				row.(map[string]any)["rank"] = i + 1
			}
			return v
		}),
	},
	{
		name: "an attested signature over other bytes", caught: "protocol.attested",
		answer: on("GET", "/api/protocol/v1/messages", objects(func(o map[string]any) {
			if text, ok := o["signature"].(string); ok && len(text) == 128 {
				o["signature"] = text[64:] + text[:64]
			}
		})),
	},
	{
		name: "a bumper that lasts eleven seconds", caught: "clock.slots",
		answer: on("GET", "/program/timeline", objects(func(o map[string]any) {
			if end, ok := o["endDate"].(string); ok && o["kind"] == "bumper" {
				o["endDate"] = strings.Replace(end, "0.000Z", "1.000Z", 1)
			}
		})),
	},
	{
		name: "percentages that do not add up to 100", caught: "crowd.numbers",
		answer: objects(func(o map[string]any) {
			if n, ok := o["noPercent"].(float64); ok && n > 0 && o["totalSignals"] != nil && o["yesCount"] != nil {
				o["noPercent"] = n - 1
			}
		}),
	},
	{
		name: "a client resolves its own call", caught: "call.events",
		answer: on("POST", "/api/signals/", refusal("invalid_type", stack.JSON{"event": stack.JSON{"type": "resolved"}})),
	},
	{
		name: "events by another operator", caught: "call.owner",
		answer: on("POST", "/api/signals/", refusal("forbidden", stack.JSON{"event": stack.JSON{"type": "reaffirm"}})),
	},
	{
		name: "keys of small order are accepted", caught: "key.weak",
		answer: on("POST", "/api/protocol/v1/signers/challenge", refusal("weak_key", stack.JSON{
			"challenge": "x",
			"expiresAt": "2026-09-18T12:00:00.000Z",
		})),
	},
	{
		name: "an ignored Idempotency-Key", caught: "call.repeated",
		request: func(r *http.Request) { r.Header.Del("Idempotency-Key") },
	},
	{
		name: "writes allowed for every origin", caught: "cors.closed",
		answer: on("POST", "/api/predictions", func(_ *http.Request, a *http.Response, v any) any {
			a.Header.Set("Access-Control-Allow-Origin", "*")
			return v
		}),
	},
	{
		name: "a pulse that is cached for an hour", caught: "cache.ages",
		answer: on("GET", "/api/network/pulse", func(_ *http.Request, a *http.Response, v any) any {
			a.Header.Set("Cache-Control", "public, s-maxage=3600")
			return v
		}),
	},
	{
		name: "another rate limit of a key", caught: "key.limit",
		answer: on("GET", "/api/network/field-record/me", func(_ *http.Request, a *http.Response, v any) any {
			a.Header.Set("RateLimit-Policy", `"hub";q=100;w=60`)
			return v
		}),
	},
	{
		name: "a record without one of its lines", caught: "score.records",
		text: func(r *http.Request, raw []byte) []byte {
			if lines := bytes.SplitAfter(raw, []byte("\n")); strings.HasSuffix(r.URL.Path, "/record") && len(lines) > 3 {
				return bytes.Join(slices.Delete(lines, 1, 2), nil)
			}
			return raw
		},
	},
	{
		name: "a refusal without Retry-After", caught: "limit.form",
		answer: overLimits(func(a *http.Response, v any) any {
			a.Header.Del("Retry-After")
			return v
		}),
	},
	{
		name: "a rate limit refusal of another form", caught: "limit.form", also: []string{"limit.key"},
		answer: overLimits(func(*http.Response, any) any { return stack.JSON{"status": 429, "message": "slow down"} }),
	},
	{
		name: "a Retry-After that is too short", caught: "limit.key",
		answer: overLimits(func(a *http.Response, v any) any {
			a.Header.Set("Retry-After", "1")
			v.(map[string]any)["retryAfterMs"] = 1000
			return v
		}),
	},
	{
		name: "a key without a rate limit", caught: "limit.key",
		answer: overLimits(func(a *http.Response, _ any) any {
			a.StatusCode = http.StatusOK
			return stack.JSON{}
		}),
	},
	{
		name: "a market in dispute accepts calls", caught: "resolve.dispute", also: []string{"resolve.closed"},
		answer: on("POST", "/api/predictions", refusal("market_closed", accepted)),
	},
}

// on returns a function that changes the answers to one method and path prefix.
func on(method, path string, change func(*http.Request, *http.Response, any) any) func(*http.Request, *http.Response, any) any {
	return func(r *http.Request, a *http.Response, v any) any {
		if r.Method != method || !strings.HasPrefix(r.URL.Path, path) {
			return v
		}
		return change(r, a, v)
	}
}

// overLimits returns a function that changes only the answers with status 429.
func overLimits(change func(*http.Response, any) any) func(*http.Request, *http.Response, any) any {
	return func(_ *http.Request, a *http.Response, v any) any {
		if a.StatusCode == http.StatusTooManyRequests {
			return change(a, v)
		}
		return v
	}
}

// objects returns a function that changes every JSON object of an answer.
func objects(change func(map[string]any)) func(*http.Request, *http.Response, any) any {
	var walk func(any)
	walk = func(v any) {
		switch in := v.(type) {
		case map[string]any:
			change(in)
			for _, inner := range in {
				walk(inner)
			}
		case []any:
			for _, inner := range in {
				walk(inner)
			}
		}
	}
	return func(_ *http.Request, _ *http.Response, v any) any {
		walk(v)
		return v
	}
}

// refusal returns a function that replaces refusals with this code by a success answer. yes is the body of the success answer.
func refusal(code string, yes stack.JSON) func(*http.Request, *http.Response, any) any {
	return func(r *http.Request, a *http.Response, v any) any {
		if o, ok := v.(map[string]any); ok && o["error"] == code {
			a.StatusCode = http.StatusOK
			if strings.HasSuffix(r.URL.Path, "/events") {
				a.StatusCode = http.StatusCreated
			}
			return yes
		}
		return v
	}
}
