package httpapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/signalcast/signalcast/services/api/internal/delivery"
	"github.com/signalcast/signalcast/services/api/internal/webhook"
)

// accept is a webhook.Send that reports every delivery as accepted after 7 ms.
func accept(context.Context, webhook.Post) webhook.Outcome {
	return webhook.Outcome{Status: 202, Took: 7 * time.Millisecond}
}

func (b *bundle) webhooks() *webhook.Service {
	return webhook.NewService(b.store, accept, webhook.NewVault("x"), delivery.AllowedURL(false), time.Now)
}

// keyWith mints a key that is not strict. See mint for the permissions and results.
func (b *bundle) keyWith(name string, permissions ...string) (plaintext, owner, id string) {
	b.t.Helper()
	return b.mint(name, false, permissions...)
}

const hooksPath = "/api/v1/webhooks"

// TestWebhookRoutes checks the routes of webhooks with one webhook, from its creation to its deletion.
func TestWebhookRoutes(t *testing.T) {
	t.Parallel()
	b := setup(t, options{memory: 1})
	b.market("701122", "SCIENCE")
	b.fact("market.status", "701122", 3)
	b.head(3)
	as := "Bearer " + b.key("mara")
	made := b.do("POST", hooksPath, `{"url":"https://bot.example/x","channels":["me","market:701122"],"types":["market.resolved"],"description":"bot","since":1,"more":1}`, "Authorization", as)
	id, _ := made.body["id"].(string)
	secret, _ := made.body["secret"].(string)
	created, _ := made.body["createdAt"].(string)
	want := map[string]any{
		"id": id, "url": "https://bot.example/x", "channels": []any{"me", "market:701122"}, "types": []any{"market.resolved"}, "description": "bot",
		"active": true, "reason": nil, "failingSince": nil, "nextAttemptAt": nil, "cursor": 1.0, "createdAt": created, "secret": secret,
	}
	if diff := cmp.Diff(want, made.body); diff != "" || made.status != 201 || uuid.Validate(id) != nil || len(secret) != 49 || !strings.HasPrefix(secret, "whsec_") || created == "" {
		t.Fatalf("%d (-want +got):\n%s", made.status, diff)
	}
	if made.header.Get("Cache-Control") != "no-store" || made.header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("register: wrong headers %v", made.header)
	}
	delete(want, "secret")
	one := hooksPath + "/" + id
	if a := b.do("GET", one, "", "Authorization", as); a.status != 200 || cmp.Diff(want, a.body) != "" {
		t.Errorf("get the webhook: %d %s", a.status, a.raw)
	}
	second := b.do("POST", hooksPath, `{"url":"https://bot.example/y","channels":["signals"]}`, "Authorization", as)
	if second.body["cursor"] != 3.0 || fmt.Sprint(second.body["types"]) != "[]" || second.body["description"] != nil {
		t.Errorf("second webhook: %s", second.raw)
	}
	list := b.do("GET", hooksPath, "", "Authorization", as)
	all, _ := list.body["webhooks"].([]any)
	if list.status != 200 || len(all) != 2 || cmp.Diff(any(want), all[0]) != "" || strings.Contains(string(list.raw), "whsec_") {
		t.Errorf("list: %s", list.raw)
	}
	want["channels"], want["types"], want["active"] = []any{"resolutions"}, []any{}, false
	if a := b.do("PATCH", one, `{"active":false,"channels":["resolutions"],"types":[]}`, "Authorization", as); a.status != 200 || cmp.Diff(want, a.body) != "" {
		t.Errorf("change the webhook: %d %s", a.status, a.raw)
	}
	want["description"] = nil
	for _, body := range []string{`{"description":null}`, `{"active":null}`} {
		if a := b.do("PATCH", one, body, "Authorization", as); a.status != 200 || cmp.Diff(want, a.body) != "" {
			t.Errorf("%s: %d %s", body, a.status, a.raw)
		}
	}
	renewed := b.do("POST", one+"/secret", "", "Authorization", as)
	if fresh, _ := renewed.body["secret"].(string); renewed.status != 200 || len(fresh) != 49 || fresh == secret {
		t.Errorf("renew the secret: %d %s", renewed.status, renewed.raw)
	}
	tested := b.do("POST", one+"/test", "", "Authorization", as)
	at, _ := tested.body["at"].(string)
	line := map[string]any{
		"id": tested.body["id"], "firstSeq": nil, "lastSeq": nil, "events": 0.0, "attempt": 1.0, "status": 202.0, "error": nil, "tookMs": 7.0, "at": at, "message": nil,
	}
	if diff := cmp.Diff(line, tested.body); diff != "" || tested.status != 200 || at == "" {
		t.Errorf("test delivery: %d (-want +got):\n%s", tested.status, diff)
	}
	if a := b.do("POST", one+"/test", "", "Authorization", as); a.status != 429 || a.body["error"] != "rate_limited" || a.header.Get("Retry-After") == "" {
		t.Errorf("a second test: %d %s", a.status, a.raw)
	}
	if a := b.do("GET", one+"/deliveries", "", "Authorization", as); a.status != 200 || cmp.Diff(map[string]any{"deliveries": []any{line}, "next_cursor": nil}, a.body) != "" {
		t.Errorf("delivery log: %d %s", a.status, a.raw)
	}
	delivered, _ := tested.body["id"].(string)
	if a := b.do("POST", one+"/deliveries/"+delivered+"/resend", "", "Authorization", as); a.status != 409 || a.body["error"] != "delivery_not_pending" || a.body["reason"] != "test" {
		t.Errorf("resend a test delivery: %d %s", a.status, a.raw)
	}
	for _, unknown := range []string{id, "no-id"} {
		if a := b.do("POST", one+"/deliveries/"+unknown+"/resend", "", "Authorization", as); a.status != 404 || a.body["error"] != "not_found" {
			t.Errorf("resend the unknown delivery %s: %d %s", unknown, a.status, a.raw)
		}
	}
	if a := b.do("DELETE", one, "", "Authorization", as); a.status != 200 || string(a.raw) != `{"ok":true}` {
		t.Errorf("delete the webhook: %d %s", a.status, a.raw)
	}
	for _, call := range [][2]string{{"GET", ""}, {"PATCH", ""}, {"DELETE", ""}, {"POST", "/test"}, {"POST", "/secret"}, {"GET", "/deliveries"}, {"POST", "/deliveries/" + id + "/resend"}} {
		body := ""
		if call[0] == "PATCH" {
			body = `{"active":true}`
		}
		if a := b.do(call[0], one+call[1], body, "Authorization", as); a.status != 404 || a.body["error"] != "not_found" {
			t.Errorf("%s %s of a deleted webhook: %d %s", call[0], call[1], a.status, a.raw)
		}
	}
}

// TestWebhooksAreTheOwners checks that other operators get not_found for a webhook. A key without the permission read, a
// revoked key and other credentials must be rejected.
func TestWebhooksAreTheOwners(t *testing.T) {
	t.Parallel()
	b := setup(t, options{memory: 1})
	mara, owner, keyID := b.keyWith("mara")
	made := b.do("POST", hooksPath, `{"url":"https://bot.example/x","channels":["signals"]}`, "Authorization", "Bearer "+mara)
	id, _ := made.body["id"].(string)
	blind, _, _ := b.keyWith("mara", "signal", "broadcast")
	calls := []struct{ method, path, body string }{
		{"GET", hooksPath + "/" + id, ""},
		{"PATCH", hooksPath + "/" + id, `{"active":false}`},
		{"DELETE", hooksPath + "/" + id, ""},
		{"POST", hooksPath + "/" + id + "/test", ""},
		{"POST", hooksPath + "/" + id + "/secret", ""},
		{"GET", hooksPath + "/" + id + "/deliveries", ""},
		{"POST", hooksPath + "/" + id + "/deliveries/" + id + "/resend", ""},
	}
	all := append(calls, struct{ method, path, body string }{"GET", hooksPath, ""}, struct{ method, path, body string }{"POST", hooksPath, `{}`})
	tide := b.key("tide")
	for _, c := range calls {
		if a := b.do(c.method, c.path, c.body, "Authorization", "Bearer "+tide); a.status != 404 || a.body["error"] != "not_found" {
			t.Errorf("%s %s of another operator's webhook: %d %s", c.method, c.path, a.status, a.raw)
		}
		if a := b.do(c.method, strings.Replace(c.path, id, "no-id", 1), c.body, "Authorization", "Bearer "+mara); a.status != 404 {
			t.Errorf("%s with an invalid id: %d %s", c.method, a.status, a.raw)
		}
	}
	if a := b.do("GET", hooksPath, "", "Authorization", "Bearer "+tide); string(a.raw) != `{"webhooks":[]}` {
		t.Errorf("list of another operator: %s, want none", a.raw)
	}
	refused := func(name, credential string, status int, code string) {
		for _, c := range all {
			a := b.do(c.method, c.path, c.body, "Authorization", credential)
			if a.status != status || a.body["error"] != code {
				t.Errorf("%s, %s %s: %d %s", name, c.method, c.path, a.status, a.raw)
			}
			if challenge := a.header.Get("WWW-Authenticate"); !strings.HasPrefix(challenge, "Bearer") || status == 403 && challenge != `Bearer error="insufficient_scope", scope="read"` {
				t.Errorf("%s, %s %s: WWW-Authenticate %q", name, c.method, c.path, challenge)
			}
		}
	}
	refused("no credential", "", 401, "unauthenticated")
	refused("a login", "Bearer mara.b.c", 401, "unauthenticated")
	refused("an app", "Bearer dat_"+strings.Repeat("A", 43), 401, "unauthenticated")
	refused("without read", "Bearer "+blind, 403, "insufficient_scope")
	if _, _, err := b.operators.Revoke(t.Context(), owner, keyID); err != nil {
		t.Fatal(err)
	}
	refused("revoked", "Bearer "+mara, 401, "unauthenticated")
}

// TestWebhookRefusals checks that each invalid member is rejected with its error code, and that no webhook is created.
func TestWebhookRefusals(t *testing.T) {
	t.Parallel()
	b := setup(t, options{memory: 1})
	as := "Bearer " + b.key("mara")
	many := `"signals"` + strings.Repeat(`,"x"`, 20)
	for body, code := range map[string]string{
		`[]`:                       "400 invalid_body",
		`{"channels":["signals"]}`: "400 missing_url",
		`{"url":"http://bot.example/","channels":["signals"]}`:                                                "400 invalid_url",
		`{"url":"https://127.0.0.1/","channels":["signals"]}`:                                                 "400 invalid_url",
		`{"url":"https://bot.example/"}`:                                                                      "400 missing_channels",
		`{"url":"https://bot.example/","channels":[]}`:                                                        "400 missing_channels",
		`{"url":"https://bot.example/","channels":"signals"}`:                                                 "400 invalid_channels",
		`{"url":"https://bot.example/","channels":["signals","signals"]}`:                                     "400 invalid_channels",
		`{"url":"https://bot.example/","channels":[` + many + `]}`:                                            "400 invalid_channels",
		`{"url":"https://bot.example/","channels":["market:???"]}`:                                            "400 unknown_channel",
		`{"url":"https://bot.example/","channels":["me:tide"]}`:                                               "400 unknown_channel",
		`{"url":"https://bot.example/","channels":["wire"]}`:                                                  "400 unknown_channel",
		`{"url":"https://bot.example/","channels":["pulse"]}`:                                                 "400 unknown_channel",
		`{"url":"https://bot.example/","channels":["live"],"types":["x"]}`:                                    "400 invalid_types",
		`{"url":"https://bot.example/","channels":["live"],"since":-1}`:                                       "400 invalid_since",
		`{"url":"https://bot.example/","channels":["live"],"since":1}`:                                        "400 future_cursor",
		`{"url":"https://bot.example/","channels":["live"],"types":["price.tick"]}`:                           "400 invalid_types",
		`{"url":"https://bot.example/","channels":["live"],"description":"` + strings.Repeat("é", 201) + `"}`: "400 invalid_description",
	} {
		a := b.do("POST", hooksPath, body, "Authorization", as)
		if got := fmt.Sprint(a.status, " ", a.body["error"]); got != code {
			t.Errorf("%.90s: %s, want %s", body, got, code)
		}
	}
	good := `{"url":"https://bot.example/","channels":["live"],"description":"` + strings.Repeat("é", 200) + `"}`
	var id string
	for n := range 11 {
		a := b.do("POST", hooksPath, good, "Authorization", as)
		if limited := a.status == 409 && a.body["error"] == "limit_reached" && a.body["limit"] == 10.0; limited != (n == 10) || !limited && a.status != 201 {
			t.Errorf("webhook %d: %d %s", n+1, a.status, a.raw)
		}
		if n == 0 {
			id, _ = a.body["id"].(string)
		}
	}
	for body, code := range map[string]string{
		`{"active":"no"}`: "400 invalid_active", `{"channels":[]}`: "400 missing_channels", `{"channels":["wire"]}`: "400 unknown_channel",
		`{"types":["x"]}`: "400 invalid_types", `{"description":"` + strings.Repeat("é", 201) + `"}`: "400 invalid_description", `{}`: "200 <nil>",
		`{"url":"https://other.example/"}`: "400 invalid_url", `{"url":7}`: "400 invalid_url", `{"url":"https://bot.example/","active":true}`: "200 <nil>",
		`{"since":0}`: "400 invalid_since",
	} {
		a := b.do("PATCH", hooksPath+"/"+id, body, "Authorization", as)
		if got := fmt.Sprint(a.status, " ", a.body["error"]); got != code {
			t.Errorf("%.60s: %s, want %s", body, got, code)
		}
	}
}

// TestWebhookLogPages checks that the pages of the delivery log contain each entry once.
func TestWebhookLogPages(t *testing.T) {
	t.Parallel()
	b := setup(t, options{memory: 1})
	as := "Bearer " + b.key("mara")
	made := b.do("POST", hooksPath, `{"url":"https://bot.example/","channels":["live"]}`, "Authorization", as)
	id, _ := made.body["id"].(string)
	b.exec(`INSERT INTO api.webhook_deliveries (webhook_id, delivery_id, first_seq, last_seq, events, attempt, status, error, took_ms, at)
		SELECT $1, gen_random_uuid(), i, i, 1, i, 500, 'status', 1, now() FROM generate_series(1, 25) i`, id)
	var got []float64
	path, next := hooksPath+"/"+id+"/deliveries?limit=10", ""
	for range 4 {
		a := b.do("GET", path+next, "", "Authorization", as)
		var page struct {
			Deliveries []struct{ Attempt float64 }
			Next       *string `json:"next_cursor"`
		}
		if err := json.Unmarshal(a.raw, &page); err != nil || a.status != 200 {
			t.Fatal(a.status, err)
		}
		for _, d := range page.Deliveries {
			got = append(got, d.Attempt)
		}
		if page.Next == nil {
			break
		}
		next = "&cursor=" + *page.Next
	}
	for i, n := range got {
		if n != float64(25-i) {
			t.Fatalf("attempts in the log: %v, want 25 to 1", got)
		}
	}
	if len(got) != 25 {
		t.Errorf("%d entries, want 25", len(got))
	}
}
