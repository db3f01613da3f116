package server_test

import (
	"net/http"
	"strings"
	"testing"
)

// A clock that was set dates answers and prices.
func TestSetClock(t *testing.T) {
	t.Parallel()
	base := start(t)
	status, made := post(t, base+"/sim/manifold/markets", `{"question":"Will the clock stand still?","yesPrice":0.25}`)
	if status != http.StatusCreated {
		t.Fatalf("%d %v", status, made)
	}
	if status, said := post(t, base+"/sim/clock", `{"at":"2031-02-03T04:05:06.5Z"}`); status != http.StatusOK || said["at"] != "2031-02-03T04:05:06.5Z" {
		t.Fatalf("%d %v", status, said)
	}
	market := strings.TrimPrefix(made["id"].(string), "manifold-")
	if status, said := post(t, base+"/sim/manifold/markets/manifold-"+market, `{"state":"resolved","outcome":"YES"}`); status != http.StatusOK {
		t.Fatalf("%d %v", status, said)
	}
	resp, body := get(t, base+"/manifold/v0/market/"+market)
	if got, want := resp.Header.Get("Date"), "Mon, 03 Feb 2031 04:05:06 GMT"; got != want {
		t.Errorf("Date is %q, want %q", got, want)
	}
	if !strings.Contains(body, `"resolutionTime":1927857906500`) {
		t.Errorf("the market was not resolved at the time of the clock: %s", body)
	}
	for _, bad := range []string{`{}`, `{"at":"noon"}`, `{"at":"2031-02-03T04:05:06Z","by":1}`} {
		if status, said := post(t, base+"/sim/clock", bad); status != http.StatusBadRequest {
			t.Errorf("%s: %d %v", bad, status, said)
		}
	}
}
