package main

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"
)

// TestLost: of a write whose answer was lost nobody says that it was not, and each command
// says how to find out.
func TestLost(t *testing.T) {
	cut := func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
	half := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = w.Write([]byte(`{"ok":`))
	}
	for name, answer := range map[string]http.HandlerFunc{"cut": cut, "half": half, "a fault": says(500, `{"error":"internal"}`), "a proxy's": says(502, `<html>`)} {
		t.Run(name, func(t *testing.T) {
			d := sit(t)
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
				{[]string{"live", "clear"}, "Look before you send it again"},
			} {
				_, bad := d.run(away, append(c.args, "--hub", hub.URL)...)
				d.has(bad, "may have happened", c.do)
				if strings.Contains(bad, "cannot be reached") || strings.Count(bad, "\n") != 1 {
					t.Errorf("%q", bad)
				}
			}
			_, bad := d.run(away, "follow", "mara_k", "--hub", hub.URL) // it signs in first
			if strings.Contains(bad, "may have happened") {
				t.Errorf("%q", bad)
			}
			_, bad = d.run(away, "market", "show", "701122", "--hub", hub.URL)
			if strings.Contains(bad, "may have happened") {
				t.Errorf("%q", bad)
			}
		})
	}
}

// TestLostBefore: what the last try says is not all, where an answer was lost before.
func TestLostBefore(t *testing.T) {
	d := sit(t)
	t.Setenv("SIGNALCAST_KEY", key)
	file := []string{"call", "701122", "no", "--price", "50", "--idempotency-key", "mine", "--hub"}
	hub := serve(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, says(503, `{"error":"db_unavailable"}`))
	_, bad := d.run(away, append(file, hub.URL)...)
	d.has(bad, "may have happened", "--idempotency-key mine")
	goes := serve(t, nil)
	goes.Config.Handler = http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		_ = goes.Listener.Close() // nobody is there for the tries behind this one
		panic(http.ErrAbortHandler)
	})
	_, bad = d.run(away, append(file, goes.URL)...)
	d.has(bad, "may have happened")
	none := serve(t, says(200, `{}`))
	none.Close()
	_, bad = d.run(away, append(file, none.URL)...)
	d.has(bad, "cannot be reached")
	if strings.Contains(bad, "may have happened") {
		t.Errorf("%q", bad)
	}
}
