package main

import (
	"path/filepath"
	"strings"
	"testing"
)

const call = `"id":"` + signalID + `","privyId":"op_1","callsign":"mara_k","marketId":"701122","marketTitle":"Gauge\u202e above\u001b[31m 6 m?","direction":"NO",
	"priceAtPrediction":6850,"crowdYesAtSignal":null,"confidence":70,"textTake":"a` + "\u202e\u009b" + `b","status":"won","score":31,"createdAt":"2026-03-01T10:00:00.000Z",
	"resolvedAt":"2026-03-02T10:00:00.000Z","timeToResolution":null,"source":"web","outcome":"NO","closePrice":2000,"clvBps":1150`

const history = `[{"id":"` + signalID + `","type":"note","payload":{"text":"Rain has\nstopped."},"actor":"owner","createdAt":"2026-03-01T11:00:00.000Z"}]`

// TestReads checks that each command reads its route without a key and shows the answer without control characters.
func TestReads(t *testing.T) {
	for name, c := range map[string]struct {
		args    []string
		answer  string
		request string
		shows   []string
	}{
		"search": {
			[]string{"market", "search", "ostrava", "gauge", "--lane", "SCIENCE", "--limit", "2"},
			`{"markets":[{"id":"701122","name":"Ostrava gauge above 6 m?","yesPct":31.5,"closed":false,"closesAt":"2027-06-01T00:00:00.000Z","lane":"SCIENCE"}],"count":1,"next_cursor":"abc"}`,
			"/api/polymarket/markets?q=ostrava+gauge&lane=SCIENCE&closed=false&sort=volume&limit=2",
			[]string{"ID      YES   ENDS", "701122  31.5  2027-06-01 00:00Z  SCIENCE  Ostrava gauge above 6 m?", "--cursor abc"},
		},
		"search of all venues": {
			[]string{
				"market", "search", "ostrava", "--venue", "native", "--lane", "SCIENCE", "--min-volume", "1000", "--sort", "closes",
				"--closes-before", "2027-06-01T00:00:00Z",
			},
			`{"markets":[{"id":"native-a","title":"Ostrava against Opava","sides":{"yes":"Ostrava","no":"Opava"},"yesBps":3150,"status":"open",` +
				`"closesAt":"2027-06-01T00:00:00.000Z","lane":"SCIENCE","provider":"manual","calls":4}],"count":1,"next_cursor":"abc"}`,
			"/api/markets?q=ostrava&provider=manual&lane=SCIENCE&status=open&closesBefore=2027-06-01T00%3A00%3A00Z&minVolumeUsd=1000&sort=closes&limit=20",
			[]string{"native-a  31.5  2027-06-01 00:00Z  open    native  SCIENCE  4      Ostrava against Opava (YES: Ostrava)", "--cursor abc"},
		},
		"every market": {
			[]string{"market", "search", "--venue", "all", "--status", "all"},
			`{"markets":[],"count":0,"next_cursor":null}`,
			"/api/markets?sort=volume&limit=20",
			[]string{"No market matches"},
		},
		"search, nothing": {[]string{"market", "search", "x"}, `{"markets":[],"count":0,"next_cursor":null}`, "", []string{"No market matches"}},
		"market": {
			[]string{"market", "show", "native-a b/c"},
			`{"marketId":"native-a","question":"Q?","status":"open","yesBps":null,"provider":"native","lane":"OTHER"}`,
			"/api/m/native-a%20b%2Fc",
			[]string{"Question      Q?", "no price from the last ten minutes"},
		},
		"crowd": {
			[]string{"market", "crowd", "701122"},
			`{"marketId":"701122","yesCount":1,"noCount":3,"totalSignals":4,"yesPercent":25,"noPercent":75,"topForecasters":{"yesPercent":33,"sampleSize":3}}`,
			"/api/m/701122/crowd",
			[]string{"1 (25%)", "3 (75%)", "33% YES in 3 calls"},
		},
		"board": {
			[]string{"board", "--operators", "all"},
			`{"leaderboard":[{"rank":1,"callsign":"mara_k","score":31,"won":1,"lost":0,"pending":2,"edge":{"calls":1,"edgeBps":3150,"lowBps":-450,"highBps":5000}}]}`,
			"/api/v1/signals/leaderboard?operators=all&limit=20&order=score",
			[]string{"1     mara_k  31     31.5 (-4.5 to 50)  1    0     2"},
		},
		"broadcast board": {
			[]string{"board", "--by", "broadcast", "--window", "28d"},
			`{"leaderboard":[{"rank":1,"handle":"tidewatch","broadcastScore":700,"score":9,"won":1,"lost":0,"pending":2,"followers":12,"edge":null}]}`,
			"/api/operator/leaderboard?window=28d&limit=20&order=score",
			[]string{"1     tidewatch  700        9      -"},
		},
		"signal": {
			[]string{"signal", "show", signalID},
			`{` + call + `}`, "/api/signals/" + signalID,
			[]string{"NO at 68.5 cents", "Gauge above[31m 6 m?", "Score       31", "20 cents of YES", "/receipts/" + signalID},
		},
		"receipt": {
			[]string{"receipt", signalID},
			`{` + call + `,"events":` + history + `,"resolution":{"outcome":"NO","resolver":"oracle","source":"native","disputed":true,"disputeReason":"no","disputedAt":null}}`,
			"/receipts/" + signalID,
			[]string{"NO at 68.5 cents", "Claimed   NO", "Disputed  no since", "owner  Rain has stopped."},
		},
		"events": {[]string{"events", "list", signalID}, `{"signalId":"` + signalID + `","events":` + history + `}`, "/api/signals/" + signalID + "/events", []string{"note", "Rain has stopped."}},
	} {
		t.Run(name, func(t *testing.T) {
			d := newShell(t)
			t.Setenv("SIGNALCAST_KEY", key)
			hub := serve(t, respond(200, c.answer))
			args := append(c.args, "--hub", hub.URL, "--api", hub.URL)
			out, _ := d.run(done, args...)
			d.requireContains(out, c.shows...)
			r := hub.requests[0]
			if got := r.URL.EscapedPath() + "?" + r.URL.RawQuery; c.request != "" && strings.TrimSuffix(got, "?") != c.request {
				t.Errorf("the request is %s, want %s", got, c.request)
			}
			if r.Header.Get("Authorization") != "" || r.Header.Get("Accept") != "application/json" {
				t.Errorf("the request has a key or does not accept JSON: %v", r.Header)
			}
			programs, _ := d.run(done, append(args, "--json")...)
			for _, shown := range []string{out, programs} {
				if strings.ContainsAny(shown, "\x1b\u009b\u202e") {
					t.Errorf("the output contains control characters: %q", shown)
				}
			}
			none := serve(t, respond(404, `{"error":"not_found"}`))
			d.run(refused, append(c.args, "--hub", none.URL, "--api", none.URL)...)
		})
	}
}

func TestEventsAdd(t *testing.T) {
	d := newShell(t)
	t.Setenv("SIGNALCAST_KEY", key)
	hub := serve(t, respond(201,
		`{"event":{"id":"`+signalID+`","type":"note","payload":{"text":"Rain."},"actor":"owner","createdAt":"2026-03-01T11:00:00.000Z"}}`))
	for body, args := range map[string][]string{
		`{"type":"note","payload":{"text":"Rain."}}`:                       {"note", "--text", "Rain."},
		`{"type":"take","payload":{"mediaAssetId":"m","url":"https://x"}}`: {"take", "--media", "m", "--url", "https://x"},
		`{"type":"confidence","payload":{"confidence":80}}`:                {"confidence", "--confidence", "80"},
		`{"type":"reaffirm"}`: {"reaffirm"},
		`{"type":"share"}`:    {"share"},
	} {
		out, _ := d.run(done, append([]string{"events", "add", signalID, "--hub", hub.URL}, args...)...)
		d.requireContains(out, "owner  Rain.")
		if got := strings.TrimSpace(hub.bodies[len(hub.bodies)-1]); got != body {
			t.Errorf("the body is %s, want %s", got, body)
		}
		r := hub.requests[len(hub.requests)-1]
		if r.Header.Get("Idempotency-Key") == "" || r.Header.Get("Authorization") != "Bearer "+key ||
			r.URL.Path != "/api/signals/"+signalID+"/events" {
			t.Errorf("the request lacks the key or an idempotency key, or has another path: %s %v", r.URL, r.Header)
		}
	}
	foreign := serve(t, respond(403, `{"error":"forbidden"}`))
	_, bad := d.run(refused, "events", "add", signalID, "reaffirm", "--hub", foreign.URL)
	d.requireContains(bad, "Only the operator of a call")
}

// TestIncompleteRecord checks that an incomplete download of a record has exit code 3 and leaves no file. If the file cannot be
// written, the exit code must be 2.
func TestIncompleteRecord(t *testing.T) {
	d := newShell(t)
	breaks := serve(t, respond(200, `{"type":"record","version":"2"}`+"\n", "Content-Length", "1000"))
	short := serve(t, respond(200, `{"type":"record","version":"2"}`+"\n"))
	file := filepath.Join(d.home, "record")
	for _, s := range []*server{breaks, short} {
		for _, args := range [][]string{nil, {"-o", file}} {
			_, bad := d.run(unavailable, append([]string{"record", "get", "mara_k", "--hub", s.URL}, args...)...)
			d.requireContains(bad, "the response ended early", "Try again")
		}
		if left, _ := filepath.Glob(file + "*"); len(left) > 0 {
			t.Errorf("files are left: %q", left)
		}
	}
	d.run(unavailable, "record", "verify", breaks.URL)
	_, bad := d.run(usage, "record", "verify", d.home)
	d.requireContains(bad, d.home+" is a directory; name a file")
	breaks.Close()
	_, bad = d.run(unavailable, "record", "verify", breaks.URL+"/x")
	d.requireContains(bad, "signalcast: "+breaks.URL+" cannot be reached: ", "Check the address, and that the service runs")
	good := serve(t, respond(200, `{"type":"end","complete":true}`+"\n"))
	d.run(usage, "record", "get", "mara_k", "--hub", good.URL, "-o", filepath.Join(d.home, "nowhere", "x"))
	d.run(done, "record", "get", "mara_k", "--hub", good.URL, "-o", file)
}
