package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestLoginWithAKey(t *testing.T) {
	d := newShell(t)
	hub := serve(t, respond(200, `{"denpaId":"x"}`), respond(200, `{"ok":true,"id":"`+signalID+`"}`))
	d.in = key + "\n"
	out, _ := d.run(done, "login", "--hub", hub.URL, "--api", "http://localhost:9")
	d.requireContains(out, d.config())
	info, err := os.Stat(d.config())
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v, mode %v", err, info.Mode())
	}
	if left, _ := filepath.Glob(filepath.Join(d.home, "signalcast", "*")); len(left) != 1 {
		t.Errorf("%v", left)
	}
	d.in = ""
	d.run(done, "call", "701122", "no", "--price", "50") // the hub and the key of the login
	if got := hub.requests[1].Header.Get("Authorization"); got != "Bearer "+key {
		t.Errorf("Authorization %q", got)
	}

	other := serve(t, respond(200, `{"ok":true,"id":"`+signalID+`"}`))
	_, bad := d.run(usage, "call", "701122", "no", "--price", "50", "--hub", other.URL)
	d.requireContains(bad, "no key is stored for "+other.URL+"; a key is required")
	if len(other.requests) != 0 {
		t.Error("a request was sent to a hub without a stored key")
	}

	if err := os.Chmod(d.config(), 0o644); err != nil {
		t.Fatal(err)
	}
	_, bad = d.run(usage, "call", "701122", "no", "--price", "50")
	d.requireContains(bad, "chmod 600")
}

// TestLoginOnATerminal checks that login on a terminal names and opens the page of keys, and reads the key without showing it.
func TestLoginOnATerminal(t *testing.T) {
	d := newShell(t)
	hub := serve(t, respond(200, `{"denpaId":"x"}`))
	d.inTerminal, d.hidden = true, key
	out, bad := d.run(done, "login", "--hub", hub.URL)
	d.requireContains(bad, "Create a key at "+hub.URL+"/dev")
	d.requireContains(out, d.config())
	if len(d.opened) != 1 || d.opened[0] != hub.URL+"/dev" {
		t.Errorf("login opened %q, want the page of keys", d.opened)
	}
	d.run(done, "login", "--hub", hub.URL, "--no-browser")
	d.piped = true // a script that reads the output
	d.run(done, "login", "--hub", hub.URL)
	if len(d.opened) != 1 {
		t.Errorf("login opened %q with --no-browser or with a redirected output", d.opened)
	}
	d.hidden = "hello"
	_, bad = d.run(usage, "login", "--hub", hub.URL)
	d.requireContains(bad, "the input must contain a key or an identity token")
	_, bad = d.run(usage, "login", "--hub", "http://hub.example")
	d.requireContains(bad, "https")
	if len(hub.requests) != 3 {
		t.Errorf("%d requests, want 3", len(hub.requests))
	}
}

func TestLoginWithAToken(t *testing.T) {
	d := newShell(t)
	hub := serve(t, respond(201,
		`{"key":"`+key+`","id":"`+signalID+`","label":"signalcast","tier":"free","permissions":["read","signal"]}`))
	d.in, d.piped = token, true
	out, _ := d.run(done, "login", "--hub", hub.URL)
	d.requireContains(out, `"id": "`+signalID+`"`)
	if got := hub.requests[0].Header.Get("Authorization"); got != "Bearer "+token {
		t.Errorf("Authorization %q", got)
	}
	d.requireContains(hub.bodies[0], `"permissions":["read","signal"]`)
	raw, err := os.ReadFile(d.config())
	if err != nil || !strings.Contains(string(raw), key) || strings.Contains(string(raw), token) {
		t.Errorf("the key is not stored, or the token is stored (error %v)", err)
	}

	// The login names no api, so a command for the api must require its address instead of using the default one.
	_, bad := d.run(usage, "watch", "me")
	d.requireContains(bad, "set it with --api or SIGNALCAST_API")
}

func TestLoginRefused(t *testing.T) {
	d := newShell(t)
	hub := serve(t, respond(401, `{"error":"unauthenticated"}`))
	for _, d.in = range []string{key, token} {
		_, bad := d.run(refused, "login", "--hub", hub.URL)
		d.requireContains(bad, "signalcast login")
		if raw, _ := os.ReadFile(d.config()); strings.Contains(string(raw), "dk_") {
			t.Error("a refused key is stored")
		}
	}
	for _, d.in = range []string{"", "hello", key + "\n" + key, key[:20], strings.Repeat("a", 1<<20)} {
		_, bad := d.run(usage, "login", "--hub", hub.URL)
		d.requireContains(bad, "must contain a key or an identity token")
	}
	d.in = key
	_, bad := d.run(usage, "login", "--hub", "http://hub.example")
	d.requireContains(bad, "https")
	if len(hub.requests) != 2 {
		t.Errorf("%d requests, want 2", len(hub.requests))
	}
	// If the folder of the settings cannot be written, login must create no key.
	t.Setenv("XDG_CONFIG_HOME", "/proc/nowhere")
	d.in = token
	d.run(usage, "login", "--hub", hub.URL)
	if len(hub.requests) != 2 {
		t.Error("a key was requested that cannot be stored")
	}
}

// TestKeyFromFile checks --key with a file and with the standard input. A file that other users can read is refused.
func TestKeyFromFile(t *testing.T) {
	d := newShell(t)
	hub := serve(t, respond(200, `{"ok":true,"id":"`+signalID+`"}`))
	file := filepath.Join(d.home, "key")
	if err := os.WriteFile(file, []byte(key+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"call", "701122", "no", "--price", "50", "--hub", hub.URL, "--key"}
	d.run(done, append(args, file)...)
	d.in = key
	d.run(done, append(args, "-")...)
	if err := os.Chmod(file, 0o640); err != nil {
		t.Fatal(err)
	}
	_, bad := d.run(usage, append(args, file)...)
	d.requireContains(bad, "chmod 600", "0640")
	if len(hub.requests) != 2 {
		t.Errorf("%d requests, want 2", len(hub.requests))
	}
}
