package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

const (
	webhookSecret = "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
	oneHook       = `"id":"` + signalID + `","url":"https://bot.example/x","channels":["me","signals"],"types":[],"active":true,"cursor":88017,` +
		`"description":null,"createdAt":"2026-09-18T12:00:00.000Z","failingSince":null,"nextAttemptAt":null,"reason":null`
	delivery = `"id":"` + signalID + `","at":"2026-09-18T12:00:00.000Z","attempt":2,"events":3,"firstSeq":7,"lastSeq":9,"tookMs":12`
)

// TestWebhooks checks that each command about webhooks uses its route with the key, and that the secret is written only to the file.
func TestWebhooks(t *testing.T) {
	d := newShell(t)
	t.Setenv("SIGNALCAST_KEY", key)
	file := filepath.Join(d.home, "secret")
	for _, c := range []struct {
		args    []string
		answer  string
		request string
		shows   []string
	}{
		{[]string{"list"}, `{"webhooks":[{` + oneHook + `}]}`, "GET /api/v1/webhooks", []string{signalID, "active", "88017", "me signals"}},
		{
			[]string{"list"},
			`{"webhooks":[{` + strings.Replace(strings.Replace(oneHook, `"failingSince":null`, `"failingSince":"2026-09-18T12:00:00.000Z"`, 1),
				`"reason":null`, `"reason":"status 500"`, 1) + `}]}`,
			"GET /api/v1/webhooks",
			[]string{"failing: status 500"},
		},
		{[]string{"list"}, `{"webhooks":[]}`, "GET /api/v1/webhooks", []string{"webhook create"}},
		{
			[]string{"create", "https://bot.example/x", "--out", file, "--channel", "me", "--channel", "signals", "--since", "7"},
			`{` + oneHook + `,"secret":"` + webhookSecret + `"}`, "POST /api/v1/webhooks",
			[]string{signalID, file, "webhook test"},
		},
		{
			[]string{"resend", signalID, denpaID},
			`{` + oneHook + `}`, "POST /api/v1/webhooks/" + signalID + "/deliveries/" + denpaID + "/resend",
			[]string{"Due now", denpaID},
		},
		{[]string{"delete", signalID}, `{"ok":true}`, "DELETE /api/v1/webhooks/" + signalID, []string{"Deleted"}},
		{
			[]string{"test", signalID},
			`{` + delivery + `,"status":204,"error":null}`, "POST /api/v1/webhooks/" + signalID + "/test",
			[]string{"delivered", "12 ms"},
		},
		{
			[]string{"deliveries", signalID, "--limit", "2"},
			`{"deliveries":[{` + delivery + `,"status":500,"error":"status","message":"the endpoint answered 500"},{` + delivery +
				`,"status":null,"error":"connect","message":null}],"next_cursor":"abc"}`,
			"GET /api/v1/webhooks/" + signalID + "/deliveries?limit=2",
			[]string{"2026-09-18 12:00:00Z", "failed: the endpoint answered 500", "failed: connect", "--cursor abc"},
		},
	} {
		api := serve(t, respond(http.StatusOK, c.answer))
		args := append(append([]string{"webhook"}, c.args...), "--api", api.URL)
		out, _ := d.run(done, args...)
		d.requireContains(out, c.shows...)
		r := api.requests[0]
		if got := strings.TrimSuffix(r.Method+" "+r.URL.Path+"?"+r.URL.RawQuery, "?"); got != c.request ||
			r.Header.Get("Authorization") != "Bearer "+key {
			t.Errorf("the request is %s with %v, want %s with the key", got, r.Header, c.request)
		}
		if c.args[0] == "create" {
			d.requireContains(api.bodies[0], `"url":"https://bot.example/x"`, `"channels":["me","signals"]`, `"since":7`)
			if _, bad := d.run(usage, args...); !strings.Contains(bad, "never overwritten") || len(api.requests) != 1 {
				t.Errorf("an existing file of a secret was accepted: %s", bad)
			}
			args[slices.Index(args, file)] = file + "2"
			out, _ = d.run(done, append(args, "--json")...)
		}
		if strings.Contains(out, webhookSecret) {
			t.Errorf("the output contains the secret: %s", out)
		}
	}
	info, err := os.Stat(file)
	raw, _ := os.ReadFile(file)
	if err != nil || info.Mode().Perm() != 0o600 || string(raw) != webhookSecret+"\n" {
		t.Errorf("the file of the secret is %v with %d bytes, error %v; want the secret and mode 0600", info, len(raw), err)
	}
	refuses := serve(t, respond(http.StatusBadRequest, `{"error":"invalid_url","field":"url"}`))
	_, bad := d.run(refused, "webhook", "create", "http://127.0.0.1:3000", "--out", file+"3", "--api", refuses.URL)
	d.requireContains(bad, "webhook listen")
	if _, err := os.Stat(file + "3"); err == nil {
		t.Error("an empty file is left after a refusal")
	}
	fails := serve(t, respond(http.StatusOK, `{`+delivery+`,"status":null,"error":"connect","message":"connection refused"}`))
	_, bad = d.run(refused, "webhook", "test", signalID, "--api", fails.URL)
	d.requireContains(bad, "did not accept the delivery: failed: connection refused")
	none := serve(t, respond(http.StatusNotFound, `{"error":"not_found"}`))
	_, bad = d.run(refused, "webhook", "delete", signalID, "--api", none.URL)
	d.requireContains(bad, "webhook list")
}

// hookBody is the body of a delivery.
type hookBody struct {
	WebhookID, DeliveryID string
	Attempt               int
	Events                []json.RawMessage
}

// TestWebhookListen checks that listen delivers the numbered events of the feed in the documented form, with a valid signature, and
// repeats a delivery that the address refuses, with the same id. Events without a number and of other types are not delivered.
func TestWebhookListen(t *testing.T) {
	d := newShell(t)
	const at = `"at":"2026-09-18T12:00:00.000Z"`
	frames := []string{
		`{"op":"snapshot","channel":"signals","seq":12,` + at + `,"data":{}}`,
		`{"op":"gap","channel":"signals","from":12,"oldest":60}`,
		`{"op":"event","channel":"signals","seq":60,"prev":null,"type":"signal.created",` + at + `,"data":{"id":"x"}}`,
		`{"op":"event","channel":"signals","type":"price.tick",` + at + `,"data":{}}`,
		`{"op":"event","channel":"signals","seq":61,"prev":60,"type":"signal.event",` + at + `,"data":{}}`,
		`{"op":"event","channel":"signals","seq":62,"prev":61,"type":"signal.created",` + at + `,"data":{"id":"y"}}`,
	}
	api := serveFeed(t, func(*http.Request, string) {}, frames...)
	secret := filepath.Join(d.home, "secret")
	if err := os.WriteFile(secret, []byte(webhookSecret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var n atomic.Int64
	hook := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		if n.Add(1) == 2 {
			w.WriteHeader(http.StatusInternalServerError)
		}
	})
	out, _ := d.run(done, "webhook", "listen", "--api", api, "--forward-to", hook.URL+"/signalcast", "--secret", secret,
		"--type", "signal.created", "--count", "3")
	want := []string{
		`{"op":"gap","channel":"signals","from":12,"oldest":60}`,
		`{"op":"event","channel":"signals","seq":60,"prev":null,"type":"signal.created",` + at + `,"data":{"id":"x"}}`,
		`{"op":"event","channel":"signals","seq":60,"prev":null,"type":"signal.created",` + at + `,"data":{"id":"x"}}`,
		`{"op":"event","channel":"signals","seq":62,"prev":61,"type":"signal.created",` + at + `,"data":{"id":"y"}}`,
	}
	if len(hook.bodies) != len(want) {
		t.Fatalf("%d deliveries, want %d:\n%s", len(hook.bodies), len(want), out)
	}
	var bodies []hookBody
	for i, raw := range hook.bodies {
		var b hookBody
		if err := json.Unmarshal([]byte(raw), &b); err != nil || len(b.Events) != 1 || string(b.Events[0]) != want[i] {
			t.Errorf("delivery %d is %s (error %v), want the event %s", i, raw, err, want[i])
		}
		bodies = append(bodies, b)
		r := hook.requests[i]
		stamp, signature, _ := strings.Cut(strings.TrimPrefix(r.Header.Get("Signalcast-Signature"), "t="), ",v1=")
		mac := hmac.New(sha256.New, []byte(webhookSecret)) // docs/protocol/webhooks.md, "Verify a signature"
		_, _ = fmt.Fprintf(mac, "%s.%s", stamp, raw)
		if signature != hex.EncodeToString(mac.Sum(nil)) {
			t.Errorf("delivery %d has the signature %s, which is not valid", i, r.Header.Get("Signalcast-Signature"))
		}
		if r.Method != http.MethodPost || r.URL.Path != "/signalcast" || r.Header.Get("Content-Type") != "application/json" ||
			r.Header.Get("Signalcast-Delivery") != b.DeliveryID || r.Header.Get("User-Agent") != "signalcast-webhook" {
			t.Errorf("delivery %d is %s %s with %v", i, r.Method, r.URL, r.Header)
		}
	}
	if bodies[1].DeliveryID != bodies[2].DeliveryID || bodies[2].Attempt != 2 || bodies[0].DeliveryID == bodies[1].DeliveryID ||
		len(d.waited) != 1 || d.waited[0] != 5*time.Second {
		t.Errorf("the repeated delivery is %+v after %v, want the id of %+v and attempt 2 after 5s", bodies[2], d.waited, bodies[1])
	}
	d.requireContains(out, "failed: status 500", "attempt 2  delivered")
}

// TestWebhookListenSecret checks that listen creates a secret in a new file of mode 0600, uses it again, and refuses other files.
func TestWebhookListenSecret(t *testing.T) {
	d := newShell(t)
	d.progress = true
	hook := serve(t, respond(http.StatusOK, ``))
	secret := filepath.Join(d.home, "secret")
	var earlier []byte
	for range 2 {
		api := serveFeed(t, func(*http.Request, string) {}, first)
		out, said := d.run(done, "webhook", "listen", "--api", api, "--forward-to", hook.URL, "--secret", secret, "--count", "1")
		raw, err := os.ReadFile(secret)
		info, _ := os.Stat(secret)
		if err != nil || info.Mode().Perm() != 0o600 || len(raw) != len(webhookSecret)+1 || earlier != nil && string(raw) != string(earlier) {
			t.Errorf("the file of the secret has %d bytes (error %v), want the same secret in mode 0600", len(raw), err)
		}
		if strings.Contains(out+said, strings.TrimSpace(string(raw))) {
			t.Error("the output contains the secret")
		}
		earlier = raw
	}
	for name, content := range map[string]string{"empty": "", "a key": key} {
		file := filepath.Join(d.home, name)
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		_, bad := d.run(usage, "webhook", "listen", "--forward-to", hook.URL, "--secret", file)
		d.requireContains(bad, "whsec_")
	}
}
