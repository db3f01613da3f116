package signalcast

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/signalcast/signalcast/sdk/go/client"
)

func TestErrors(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]Error{
		`{"error":"market_closed","message":"market is settled","reason":"settled","new":{"a":1}}`: {Code: ErrMarketClosed, Message: "market is settled"},
		`{"error":"of_next_year"}`: {Code: "of_next_year"},
		`<html>`:                   {}, `[]`: {}, ``: {}, `{"error":7,"message":{}}`: {}, `null`: {},
	} {
		c, _ := served(t, Options{}, func(_ int, w http.ResponseWriter, r *http.Request) {
			w.Header().Set("X-Request-Id", "r1")
			say(w, 409, body)
		})
		_, err := c.Markets.Get(t.Context(), "7")
		e := (*Error)(nil)
		if !errors.As(err, &e) || e.Code != want.Code || e.Message != want.Message || e.Status != 409 || e.RequestID != "r1" || e.Operation != "GET /api/m/7" {
			t.Errorf("%s: %#v", body, e)
		}
		if want.Code != "" && !errors.Is(err, want.Code) || errors.Is(err, ErrNotFound) || errors.Is(err, Code("")) {
			t.Errorf("%s: errors.Is does not match the code %q alone", body, want.Code)
		}
		if want.Code == ErrMarketClosed && e.Reason() != "settled" {
			t.Errorf("%#v", e.Extra)
		}
	}
}

// TestAlreadyPredicted checks that, after a lost answer, an existing call counts as the filed call only if it equals the
// request. Without a lost answer it never does.
func TestAlreadyPredicted(t *testing.T) {
	t.Parallel()
	const id = "0199f0a4-2222-7000-8000-000000000002"
	draft := client.SignalDraft{MarketID: "7", Direction: client.SideNO, PriceAtPrediction: 6850}
	for name, tc := range map[string]struct {
		lost, price, side string
		found             bool
	}{
		"the same call":  {"yes", "6850", "NO", true},
		"another price":  {"yes", "6849", "NO", false},
		"another side":   {"yes", "6850", "YES", false},
		"nothing lost":   {"no", "6850", "NO", false},
		"deleted since":  {"yes", "", "", false},
		"lost in a 503":  {"503", "6850", "NO", true},
		"refused at 429": {"429", "6850", "NO", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, _ := served(t, Options{Token: Key("dk_x")}, func(n int, w http.ResponseWriter, r *http.Request) {
				switch {
				case r.Method == http.MethodGet && tc.price == "":
					say(w, 404, `{"error":"not_found"}`)
				case r.Method == http.MethodGet:
					say(w, 200, `{"id":"`+id+`","marketId":"7","direction":"`+tc.side+`","priceAtPrediction":`+tc.price+`}`)
				case n == 1 && tc.lost == "yes":
					cut(w)
				case n == 1 && tc.lost != "no":
					w.WriteHeader(map[string]int{"503": 503, "429": 429}[tc.lost])
				default:
					say(w, 409, `{"error":"already_predicted","id":"`+id+`"}`)
				}
			})
			filed, err := c.Signals.File(t.Context(), draft)
			if tc.found {
				if err != nil || !filed.Found || filed.ID != uuid.MustParse(id) {
					t.Error(filed, err)
				}
				return
			}
			e := (*Error)(nil)
			if filed.ID != uuid.Nil || filed.Found || !errors.Is(err, ErrAlreadyPredicted) || !errors.As(err, &e) || e.ID() != id {
				t.Error(filed, err)
			}
		})
	}
}

func TestBounds(t *testing.T) {
	t.Parallel()
	c, requests := served(t, Options{}, func(_ int, w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte(`{"leaderboard":"` + strings.Repeat("x", maxAnswer) + `"}`))
	})
	if _, err := c.Boards.Score(t.Context(), nil); !errors.Is(err, errTooLarge) || requests.Load() != 1 {
		t.Errorf("%v after %d requests", err, requests.Load())
	}
	line, _ := served(t, Options{}, func(_ int, w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte("{}\n" + strings.Repeat("x", maxLine+1)))
	})
	n := 0
	var last error
	for _, err := range line.Operators.Record(t.Context(), "mara_k") {
		n++
		last = err
	}
	if n != 2 || last == nil {
		t.Errorf("%d lines, %v", n, last)
	}
}

func TestDegraded(t *testing.T) {
	t.Parallel()
	c, requests := served(t, Options{}, func(_ int, w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Degraded", "db")
		say(w, 200, `{"signals":[{"marketId":"7"}],"count":1,"next_cursor":"n"}`)
	})
	var got []string
	var last error
	for s, err := range c.Signals.All(t.Context(), nil) {
		if last = err; err == nil {
			got = append(got, s.MarketID)
		}
	}
	d := (*Degraded)(nil)
	if len(got) != 1 || !errors.As(last, &d) || d.Part != "db" || requests.Load() != 3 {
		t.Errorf("%v %v after %d requests", got, last, requests.Load())
	}
}

// TestPagesEnd checks that a list ends after the last page, when the caller stops, and at a cursor that was used before.
func TestPagesEnd(t *testing.T) {
	t.Parallel()
	next := map[string]string{"": "a", "a": "b", "b": "c"}
	walk := func(t *testing.T, next map[string]string, most int) (rows int, requests int64, last error) {
		c, n := served(t, Options{}, func(_ int, w http.ResponseWriter, r *http.Request) {
			body := `{"signals":[{},{}],"next_cursor":null,"count":2}`
			if to := next[r.URL.Query().Get("cursor")]; to != "" {
				body = strings.Replace(body, "null", `"`+to+`"`, 1)
			}
			say(w, 200, body)
		})
		for _, err := range c.Signals.All(t.Context(), &client.ListSignalsParams{Limit: new(2)}) {
			if last = err; err == nil {
				rows++
			}
			if rows == most {
				break
			}
		}
		return rows, n.Load(), last
	}
	if rows, requests, err := walk(t, next, 100); rows != 8 || requests != 4 || err != nil {
		t.Error(rows, requests, err)
	}
	if rows, requests, err := walk(t, next, 3); rows != 3 || requests != 2 || err != nil {
		t.Error(rows, requests, err)
	}
	next["c"] = "a"
	if rows, requests, err := walk(t, next, 100); rows != 8 || requests != 4 || !errors.Is(err, ErrCursor) {
		t.Error(rows, requests, err)
	}
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	for text, good := range map[string]bool{
		"https://hub.example": true, "https://hub.example/path/": true, "http://127.0.0.1:1": true, "http://[::1]:1": true, "http://localhost": true,
		"http://hub.example": false, "hub.example": false, "ftp://hub.example": false, "https://a:b@hub.example": false, "https://hub.example?x": false, "": true,
	} {
		_, err := New(Options{Hub: text, Token: Key("dk_secret")})
		if (err == nil) != good || err != nil && strings.Contains(err.Error(), "a:b") {
			t.Errorf("%s: %v", text, err)
		}
	}
	if _, err := New(Options{Hub: "http://hub:8080", Token: Key("dk_secret"), PlainHTTP: true}); err != nil {
		t.Error(err)
	}
	c, err := New(Options{Hub: "https://hub.example"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Boards.Score(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "Options.API") {
		t.Error(err)
	}
}
