package main

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"
)

// TestUnknownResult checks the error of a write whose answer is lost or has a status of 500 or more. The error must say that
// the write may have been stored, and how to find out. Errors of reads and of the sign-in before a write must not say that.
func TestUnknownResult(t *testing.T) {
	cut := func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
	half := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = w.Write([]byte(`{"ok":`))
	}
	for name, answer := range map[string]http.HandlerFunc{
		"cut off": cut, "half": half, "internal error": respond(500, `{"error":"internal"}`), "proxy error": respond(502, `<html>`),
	} {
		t.Run(name, func(t *testing.T) {
			d := newShell(t)
			t.Setenv("SIGNALCAST_KEY", key)
			t.Setenv("SIGNALCAST_ADMIN_SECRET", "the secret of admins")
			hub := serve(t, answer)
			d.in = token
			for _, c := range []struct {
				args []string
				do   string
			}{
				{[]string{"call", "701122", "no", "--price", "68.5"}, "again with --price 68.5 --idempotency-key "},
				{[]string{"events", "add", signalID, "note", "--text", "Rain."}, "signalcast events list " + signalID},
				{[]string{"keys", "mint", "--out", filepath.Join(d.home, "new")}, "signalcast keys list"},
				{[]string{"keys", "revoke", signalID}, "signalcast keys list"},
				{[]string{"login"}, "signalcast keys list"},
				{[]string{"admin", "finalize", "native-a", "yes"}, "signalcast market show"},
				{[]string{"live", "clear"}, "Check the current state before you send it again"},
			} {
				_, bad := d.run(unavailable, append(c.args, "--hub", hub.URL)...)
				d.requireContains(bad, "may have been stored", c.do)
				if strings.Contains(bad, "cannot be reached") || strings.Count(bad, "\n") != 1 {
					t.Errorf("%q", bad)
				}
			}
			_, bad := d.run(unavailable, "follow", "mara_k", "--hub", hub.URL) // it signs in first
			if strings.Contains(bad, "may have been stored") {
				t.Errorf("%q", bad)
			}
			_, bad = d.run(unavailable, "market", "show", "701122", "--hub", hub.URL)
			if strings.Contains(bad, "may have been stored") {
				t.Errorf("%q", bad)
			}
		})
	}
}

// TestUnknownResultOfAnEarlierAttempt checks that the result of a write is unknown if the answer to an earlier attempt was
// lost, regardless of the last answer. If no attempt obtained a connection, the service received nothing, so the result is
// known.
func TestUnknownResultOfAnEarlierAttempt(t *testing.T) {
	d := newShell(t)
	t.Setenv("SIGNALCAST_KEY", key)
	file := []string{"call", "701122", "no", "--price", "50", "--idempotency-key", "mine", "--hub"}
	hub := serve(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		respond(503, `{"error":"db_unavailable"}`))
	_, bad := d.run(unavailable, append(file, hub.URL)...)
	d.requireContains(bad, "may have been stored", "--idempotency-key mine")
	stopping := serve(t, nil)
	stopping.Config.Handler = http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		_ = stopping.Listener.Close() // the next attempts cannot connect
		panic(http.ErrAbortHandler)
	})
	_, bad = d.run(unavailable, append(file, stopping.URL)...)
	d.requireContains(bad, "may have been stored")
	none := serve(t, respond(200, `{}`))
	none.Close()
	_, bad = d.run(unavailable, append(file, none.URL)...)
	d.requireContains(bad, "cannot be reached")
	if strings.Contains(bad, "may have been stored") {
		t.Errorf("%q", bad)
	}
}
