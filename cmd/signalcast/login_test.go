package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestLoginWithAKey(t *testing.T) {
	d := sit(t)
	hub := serve(t, says(200, `{"denpaId":"x"}`), says(200, `{"ok":true,"id":"`+signalID+`"}`))
	d.in = key + "\n"
	out, _ := d.run(done, "login", "--hub", hub.URL, "--api", "http://localhost:9")
	d.has(out, d.config())
	info, err := os.Stat(d.config())
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v, mode %v", err, info.Mode())
	}
	if left, _ := filepath.Glob(filepath.Join(d.home, "signalcast", "*")); len(left) != 1 {
		t.Errorf("%v", left)
	}
	d.in = ""
	d.run(done, "call", "701122", "no", "--price", "50") // the hub and the key of the login
	if got := hub.asked[1].Header.Get("Authorization"); got != "Bearer "+key {
		t.Errorf("Authorization %q", got)
	}

	other := serve(t, says(200, `{"ok":true,"id":"`+signalID+`"}`))
	_, bad := d.run(usage, "call", "701122", "no", "--price", "50", "--hub", other.URL)
	d.has(bad, "other hubs")
	if len(other.asked) != 0 {
		t.Error("another hub was asked")
	}

	if err := os.Chmod(d.config(), 0o644); err != nil {
		t.Fatal(err)
	}
	_, bad = d.run(usage, "call", "701122", "no", "--price", "50")
	d.has(bad, "chmod 600")
}

func TestLoginWithAToken(t *testing.T) {
	d := sit(t)
	hub := serve(t, says(201, `{"key":"`+key+`","id":"`+signalID+`","label":"signalcast","tier":"free","permissions":["read","signal"]}`))
	d.in, d.pipe = token, true
	out, _ := d.run(done, "login", "--hub", hub.URL)
	d.has(out, `"id": "`+signalID+`"`)
	if got := hub.asked[0].Header.Get("Authorization"); got != "Bearer "+token {
		t.Errorf("Authorization %q", got)
	}
	d.has(hub.said[0], `"permissions":["read","signal"]`)
	raw, err := os.ReadFile(d.config())
	if err != nil || !strings.Contains(string(raw), key) || strings.Contains(string(raw), token) {
		t.Errorf("%v: the key is not stored, or the token is", err)
	}
}

func TestLoginRefused(t *testing.T) {
	d := sit(t)
	hub := serve(t, says(401, `{"error":"unauthenticated"}`))
	for _, d.in = range []string{key, token} {
		_, bad := d.run(refused, "login", "--hub", hub.URL)
		d.has(bad, "signalcast login")
		if raw, _ := os.ReadFile(d.config()); strings.Contains(string(raw), "dk_") {
			t.Error("what was refused is stored")
		}
	}
	for _, d.in = range []string{"", "hello", key + "\n" + key, key[:20], strings.Repeat("a", 1<<20)} {
		d.run(usage, "login", "--hub", hub.URL)
	}
	d.in = key
	_, bad := d.run(usage, "login", "--hub", "http://hub.example")
	d.has(bad, "https")
	if len(hub.asked) != 2 {
		t.Errorf("it asked %d times", len(hub.asked))
	}
	// A home that cannot be written: no key is minted.
	t.Setenv("XDG_CONFIG_HOME", "/proc/nowhere")
	d.in = token
	d.run(usage, "login", "--hub", hub.URL)
	if len(hub.asked) != 2 {
		t.Error("a key was asked for that cannot be kept")
	}
}

// TestKeyFromFile: a file of its own, which nobody else may read.
func TestKeyFromFile(t *testing.T) {
	d := sit(t)
	hub := serve(t, says(200, `{"ok":true,"id":"`+signalID+`"}`))
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
	d.has(bad, "chmod 600", "0640")
	if len(hub.asked) != 2 {
		t.Errorf("it asked %d times", len(hub.asked))
	}
}
