package main

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const denpaID = "0199f0a2-1111-7000-8000-000000000001"

// passport is the answer of a hub that describes the owner of the key.
const passport = `{"denpaId":"` + denpaID + `","uri":"denpa:x","operatorId":"op_c8eb353a8e49313f","username":"mara_k","displayName":null,"avatar":null,"bio":null,
	"wallets":[],"identities":[],"operatorType":"human","isAi":false,"createdAt":"2026-09-18T12:00:00.000Z",
	"stats":{"stations":0,"broadcasts":0,"signals":0,"predictions":0,"won":0,"score":0,"followers":0,"following":0},"urls":{"profile":"x"}}`

func TestLogout(t *testing.T) {
	d := newShell(t)
	hub := serve(t, respond(200, passport))
	d.in = key
	d.run(done, "login", "--hub", hub.URL)
	d.run(done, "whoami", "--hub", hub.URL)
	_, bad := d.run(usage, "logout", "--hub", "https://other.example")
	d.requireContains(bad, "no key is stored")
	out, _ := d.run(done, "logout")
	d.requireContains(out, hub.URL, "keys revoke")
	d.run(usage, "whoami", "--hub", hub.URL)
	if raw, err := os.ReadFile(d.config()); err != nil || strings.Contains(string(raw), key) {
		t.Errorf("the key is still stored (error %v)", err)
	}
}

// TestKeysRequireAToken checks that commands that require an identity token refuse a key, and that they create no key that cannot
// be stored.
func TestKeysRequireAToken(t *testing.T) {
	d := newShell(t)
	hub := serve(t, respond(201, `{"key":"`+key+`","id":"`+signalID+`","label":"x","tier":"free","permissions":["read"]}`))
	file := filepath.Join(d.home, "new")
	d.in = key
	for _, args := range [][]string{{"keys", "list"}, {"keys", "mint", "-o", file}, {"keys", "revoke", signalID}, {"follow", "mara_k"}} {
		_, bad := d.run(usage, append(args, "--hub", hub.URL)...)
		d.requireContains(bad, "identity token")
		for in, want := range map[string]string{
			"": "the standard input is empty; it must contain an identity token", "x": "must contain an identity token, and nothing else",
		} {
			d.in = in
			_, bad := d.run(usage, append(args, "--hub", hub.URL)...)
			d.requireContains(bad, want)
		}
		d.in = key
	}
	d.in = token
	d.run(usage, "keys", "mint", "-o", filepath.Join(d.home, "nowhere", "new"), "--hub", hub.URL)
	d.run(usage, "keys", "list", "--hub", "http://hub.example")
	d.run(usage, "keys", "list", "--key", file, "--hub", hub.URL)
	if len(hub.requests) > 0 {
		t.Fatalf("%d requests, want 0", len(hub.requests))
	}
	d.run(done, "keys", "mint", "-o", file, "--hub", hub.URL)
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file of the key is %v (error %v), want mode 0600", info, err)
	}
	if raw, _ := os.ReadFile(file); string(raw) != key+"\n" {
		t.Errorf("the file has %d bytes and is not the key", len(raw))
	}
	_, bad := d.run(usage, "keys", "mint", "-o", file, "--hub", hub.URL)
	d.requireContains(bad, "another name")
	refuses := serve(t, respond(409, `{"error":"key_limit_reached","limit":10}`))
	other := filepath.Join(d.home, "other")
	_, bad = d.run(refused, "keys", "mint", "-o", other, "--hub", refuses.URL)
	d.requireContains(bad, "Revoke a key")
	if _, err := os.Stat(other); err == nil {
		t.Error("an empty file is left after a refusal")
	}
}

// TestFollow checks that follow signs in with the token. The write must then contain the cookies of the session and the origin
// of the hub, but no token.
func TestFollow(t *testing.T) {
	d := newShell(t)
	d.in = token
	hub := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "db_uid", Value: "u"})
		http.SetCookie(w, &http.Cookie{Name: "db_sig", Value: "s"})
		http.SetCookie(w, &http.Cookie{Name: "other", Value: "o"})
		respond(200, `{"ok":true}`)(w, nil)
	}, respond(200, `{"ok":true,"followers":12,"following":4,"isFollowing":true}`))
	out, _ := d.run(done, "follow", "tidewatch", "--hub", hub.URL)
	d.requireContains(out, "Followed", "12", "4")
	r := hub.requests[1]
	if r.Header.Get("Cookie") != "db_uid=u; db_sig=s" || r.Header.Get("Origin") != hub.URL || r.Header.Get("Authorization") != "" {
		t.Errorf("the write has other headers: %v", r.Header)
	}
	foreign := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "db_uid", Value: "u"})
		http.SetCookie(w, &http.Cookie{Name: "db_sig", Value: "s"})
		respond(200, `{"ok":true}`)(w, nil)
	}, respond(403, `{"error":"forbidden","message":"requests from web pages of other origins are not allowed"}`))
	_, bad := d.run(refused, "follow", "tidewatch", "--hub", foreign.URL)
	d.requireContains(bad, "http://127.0.0.1:8080 instead of http://localhost:8080")
	none := serve(t, respond(200, `{"ok":true}`))
	_, bad = d.run(usage, "follow", "tidewatch", "--hub", none.URL)
	d.requireContains(bad, "no session")
}

// TestSigner checks three properties of signing keys: the seed is only in the file of the key, the issuer is the hub, and
// payloads without a canonical form are refused.
func TestSigner(t *testing.T) {
	d := newShell(t)
	t.Setenv("SIGNALCAST_KEY", key)
	hub := serve(t, respond(200, passport))
	file := filepath.Join(d.home, "signer")
	out, _ := d.run(done, "signer", "new", file, "--hub", hub.URL, "--json")
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var stored struct{ Seed, PublicKey, Issuer string }
	if err := json.Unmarshal(raw, &stored); err != nil || strings.Contains(out, stored.Seed) ||
		stored.Issuer != hub.URL+"/api/protocol/v1" {
		t.Errorf("issuer %s, error %v; the output is %s", stored.Issuer, err, out)
	}
	d.run(usage, "signer", "new", file, "--hub", hub.URL)
	d.in = `{"marketId":"701122","position":"NO","priceBps":1e3}`
	out, _ = d.run(done, "message", "sign", "signal.create", "--signer", file)
	d.requireContains(out, `"priceBps":1000`, `"denpaId":"`+denpaID+`"`, `"appId":null`, stored.PublicKey)
	for _, bad := range []string{
		``, `[]`, `7`, `{"a":1,"a":2}`, `{"a":1e400}`, `{"a":"\ud800"}`, `{} {}`, "{\"a\":\"\xff\"}", strings.Repeat(" ", 40<<10),
	} {
		d.in = bad
		d.run(usage, "message", "sign", "signal.create", "--signer", file)
	}
	d.in = " \n"
	_, empty := d.run(usage, "message", "sign", "signal.create", "--signer", file)
	d.requireContains(empty, "the standard input is empty; it must contain one JSON object")
	d.in = `{}`
	d.run(usage, "message", "sign", "signal.created", "--signer", file)
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	_, bad := d.run(usage, "message", "sign", "signal.create", "--signer", file)
	d.requireContains(bad, "chmod 600")
	swapped := filepath.Join(d.home, "swapped")
	text := strings.Replace(string(raw), stored.PublicKey, strings.Repeat("ab", 32), 1)
	if err := os.WriteFile(swapped, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	_, bad = d.run(usage, "message", "sign", "signal.create", "--signer", swapped)
	d.requireContains(bad, "does not belong to seed")
	if strings.Contains(bad, stored.Seed) {
		t.Error("the error contains the seed")
	}
}

// TestMessageVerdicts checks that an invalid message has exit code 1 and that the error contains advice.
func TestMessageVerdicts(t *testing.T) {
	d := newShell(t)
	d.in = `{}`
	for reason, do := range map[string]string{
		"timestamp_out_of_window": "sign the payload again", "unknown_signer": "signer register", "signer_revoked": "signer new",
		"bad_signature": "for another hub", "payload": "schemas",
	} {
		hub := serve(t, respond(200, `{"valid":false,"id":"msg_x","reasons":["`+reason+`"]}`))
		_, bad := d.run(refused, "message", "verify", "--hub", hub.URL)
		d.requireContains(bad, reason, do)
		hub = serve(t, respond(401, `{"error":"unauthenticated","reason":"`+reason+`"}`))
		_, bad = d.run(refused, "message", "submit", "--hub", hub.URL)
		d.requireContains(bad, reason, do)
	}
	d.run(usage, "message", "submit", "/nowhere")
}

// TestAdminSecret checks that the admin secret is read from the environment or from a file, is sent only in x-admin-secret, and
// is never sent without encryption.
func TestAdminSecret(t *testing.T) {
	d := newShell(t)
	hub := serve(t, respond(200,
		`{"ok":true,"mode":"scan","scanned":3,"resolved":1,"scored":2,"skipped":{},"errors":[],"tookMs":1}`))
	_, bad := d.run(usage, "admin", "scan", "--hub", hub.URL)
	d.requireContains(bad, "SIGNALCAST_ADMIN_SECRET")
	t.Setenv("SIGNALCAST_ADMIN_SECRET", "opensesame")
	d.run(usage, "admin", "scan", "--hub", "http://hub.example")
	out, _ := d.run(done, "admin", "scan", "--hub", hub.URL)
	d.requireContains(out, "Resolved  1")
	r := hub.requests[0]
	if r.Method != http.MethodPost || r.Header.Get("x-admin-secret") != "opensesame" ||
		r.Header.Get("Authorization") != "" || r.ContentLength > 0 {
		t.Errorf("the request is %s with %v, want POST with the secret only", r.Method, r.Header)
	}
	no := serve(t, respond(403, `{"error":"forbidden"}`))
	_, bad = d.run(refused, "admin", "force", "701122", "yes", "--hub", no.URL)
	d.requireContains(bad, "not that of this hub")
	if strings.Contains(bad, "opensesame") {
		t.Error("the error contains the secret")
	}
	for _, args := range [][]string{
		{"force", "701122", "maybe"},
		{"market", "create", "Will it rain in Opava?", "--lane", "SCIENCE"},
		{"market", "create", "Will it rain in Opava?", "--lane", "FISH", "--cutoff", "2027-06-01T00:00:00Z"},
		{"scan", "--secret-file", "/nowhere"},
	} {
		d.run(usage, append([]string{"admin"}, args...)...)
	}
}

// TestHeartbeats checks that heartbeats are sent at the interval that the hub requests, but at most once a second.
func TestHeartbeats(t *testing.T) {
	d := newShell(t)
	t.Setenv("SIGNALCAST_KEY", key)
	hub := serve(t, respond(200, `{"ok":true,"showId":null,"intervalS":15,"expiresInS":45,"viewers":3}`),
		respond(200, `{"ok":true,"showId":null,"intervalS":0,"expiresInS":45,"viewers":3}`))
	out, _ := d.run(done, "live", "on", "--count", "3", "--hub", hub.URL)
	if strings.Count(out, "Watching") != 3 || len(d.waited) != 2 || d.waited[0] != 15*time.Second || d.waited[1] != time.Second {
		t.Errorf("waits %v, want 15s and 1s; the output is\n%s", d.waited, out)
	}
	d.run(usage, "live", "set", "701122", "--yes", "101", "--hub", hub.URL)
}

// TestLiveEndsAtAnInterrupt checks that "live on" ends the live session at the hub after an interrupt, and has exit code 0.
func TestLiveEndsAtAnInterrupt(t *testing.T) {
	d := newShell(t)
	t.Setenv("SIGNALCAST_KEY", key)
	d.ctx, d.stop = context.WithCancel(t.Context())
	const beat = `{"ok":true,"showId":null,"intervalS":15,"expiresInS":45,"viewers":3}`
	hub := serve(t, func(w http.ResponseWriter, r *http.Request) {
		d.stop()
		respond(200, beat)(w, r)
	}, respond(200, beat))
	d.run(done, "live", "on", "--hub", hub.URL)
	d.requireContains(hub.bodies[len(hub.bodies)-1], `"state":"offline"`)
}
