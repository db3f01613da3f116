package video

import (
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/signalcast/signalcast/test/system/browser"
	"github.com/signalcast/signalcast/test/system/stack"
)

type lane struct{ Key, Label string }

// awaitLanes waits until the programme has several lanes, and returns them.
func awaitLanes(t *testing.T, s *stack.Stack) []lane {
	t.Helper()
	var programme struct{ Lanes []lane }
	stack.Eventually(t, time.Minute, "a programme of several lanes", func() bool {
		read(t, s.Hub+"/api/broadcast/program").Decode(&programme)
		return len(programme.Lanes) > 1
	})
	return programme.Lanes
}

// laneName returns the name of a lane as pages show it.
func laneName(label string) string {
	if label == "TV" {
		return label
	}
	return label[:1] + strings.ToLower(label[1:])
}

// TestScreen checks that the screen shows the current programme, of all lanes or of one lane, with and without scripts. The
// test does not run in parallel, because a broadcast of another test would replace the programme on the screen.
func TestScreen(t *testing.T) {
	s := system(t)
	lanes := awaitLanes(t, s)
	b := browser.Open(t, browser.Screen)
	b.Visit(s.Hub+"/tv", http.StatusOK)
	for _, lane := range lanes {
		b.Await("#tv-lanes", laneName(lane.Label))
	}
	b.Await("#tv-status", "Live")
	stack.Eventually(t, browser.Within, "a title of the programme", func() bool {
		title := strings.ReplaceAll(b.Visible("tv-title"), "NEXT · ", "")
		inJSON := strings.ReplaceAll(title, `"`, `\"`)
		return title != "" && read(t, s.Hub+"/api/broadcast/program").Contains(inJSON)
	})
	b.RequireFits()
	requireSchedule(t, b)
	b.RequireNoProblems()

	one := browser.Open(t, browser.Phone)
	one.Visit(s.Hub+"/tv?lane="+strings.ToUpper(lanes[1].Key), http.StatusOK)
	one.Await("#tv-kicker", laneName(lanes[1].Label))
	stack.Eventually(t, browser.Within, "one lane on the screen", func() bool { return one.Count("#tv-lanes li") == 1 })
	one.RequireFits()
	plain := browser.Open(t, browser.Phone)
	plain.DisableScripts()
	plain.Visit(s.Hub+"/tv", http.StatusOK)
	plain.Shows("main", lanes[1].Label)
}

// requireSchedule requires that the script of the screen computes the current segment, the countdown in seconds and the next
// segment correctly. It calls the script with several times, for a lane with two markets and a bumper of 10 s before each
// market.
func requireSchedule(t *testing.T, b *browser.Tab) {
	t.Helper()
	const schedule = `(async () => {
		const { onNow, countdown, lanesOf } = await import(document.getElementById('tv').dataset.when);
		const at = s => new Date(Date.UTC(2026, 8, 18, 12, 0, s)).toISOString();
		const seg = (id, kind, from, to) => ({ id, kind, segmentId: id + ' ' + kind, title: id, startsAt: at(from), endDate: at(to) });
		const market = (id, from) => [seg(id, 'bumper', from, from + 10), seg(id, 'content', from + 10, from + 610)];
		const segs = [market('a', 0), market('b', 610)].flat();
		const lane = { key: 'science', label: 'SCIENCE', segs };
		const now = s => {
			const t = Date.parse(at(s)), r = onNow(lane, t);
			return [s, r.now?.segmentId, countdown(r.now, t), r.next?.segmentId].join(', ');
		};
		const lanes = [[{ key: 'x', label: 'X', segs: [] }, ''], [lane, 'science'], [lane, 'nowhere']].
			map(([other, wanted]) => lanesOf({ lanes: [lane, other].slice(wanted === '' ? 0 : 1) }, wanted).length);
		return [-5, 0, 9, 10, 609.9, 610, 615.5, 620, 9999].map(now).concat('lanes ' + lanes.join(', '));
	})()`
	want := []string{
		"-5, , , a content", "0, a bumper, 10, b content", "9, a bumper, 1, b content", "10, a content, , b content",
		"609.9, a content, , b content", "610, b bumper, 10, ", "615.5, b bumper, 5, ", "620, b content, , ", "9999, b content, , ",
		"lanes 1, 1, 1",
	}
	if diff := cmp.Diff(want, browser.Eval[[]string](b, schedule)); diff != "" {
		t.Errorf("second, current segment, countdown, next segment (-want +got):\n%s", diff)
	}
}

// TestScreenOfUnknownStation checks that the screen of a station that does not exist shows an error, and shows nothing of
// another programme. It must not request the programme again within a minute.
func TestScreenOfUnknownStation(t *testing.T) {
	t.Parallel()
	s := system(t)
	stack.Eventually(t, time.Minute, "a market in the spotlight", func() bool {
		return read(t, s.Hub+"/api/broadcast/spotlight").Value("spotlight") != nil
	})
	for station, programmes := range map[string]int{"zzz": 1, "Z%20%3Cb%3E": 0} {
		t.Run(station, func(t *testing.T) {
			t.Parallel()
			b := browser.Open(t, browser.Screen)
			b.RunFirst(`const every = window.setInterval; // ten times as fast once hurry is set
				window.setInterval = (f, ms) => { let n = 0; return every(() => (window.hurry || ++n % 10 === 0) && f(), ms / 10); };`)
			b.Visit(s.Hub+"/tv?station="+station, http.StatusOK)
			b.Await("#tv-off", "Station not found.")
			b.Await("#tv-status", "Live")
			// Long enough for three requests of the programme, and for more than four of the spotlight.
			browser.Eval[bool](b, `window.hurry = true`)
			browser.Eval[bool](b, `new Promise(done => { let n = 0; setInterval(() => ++n === 40 && done(true), 2000) })`)
			requested := strings.Join(b.Requests(), "\n")
			count := func(name string) int { return len(regexp.MustCompile(`/api/.*/`+name).FindAllString(requested, -1)) }
			if got := [2]int{count("program"), count("spotlight")}; got != [2]int{programmes, 0} {
				t.Errorf("the screen sent %d requests for the programme and %d for the spotlight; want %d and 0", got[0], got[1], programmes)
			}
			if card, text := b.Visible("tv-card"), b.Visible("tv-off"); card != "" || text != "Station not found." {
				t.Errorf("the screen shows the card %q and the text %q; want no card and Station not found.", card, text)
			}
			b.RequireFits()
			b.Forget("status of 404")
			b.RequireNoProblems()
		})
	}
}

// TestScreenShowsBroadcasts checks that an open screen shows a broadcast that starts later. When the page was opened, its
// content security policy did not contain the video host. The test does not run in parallel, because a screen shows the broadcasts
// of all tests, and it counts as a viewer of their markets.
func TestScreenShowsBroadcasts(t *testing.T) {
	s := system(t)
	b := browser.Open(t, browser.Screen)
	b.Visit(s.Hub+"/tv", http.StatusOK)
	b.Await("#tv-status", "Live")
	o, stream := s.NewOperator(t), newStream(t)
	m := s.NewVenueMarket(t, "polymarket", 0.315, stack.JSON{"outcomes": []string{"Ochre Rovers", "Slate City"}})
	m.Read(t)
	market := m.ID
	setOverlay(t, o, stack.JSON{"marketId": market, "name": "Ostrava gauge above 6 m?", "yesPct": 31.5})
	broadcast(t, o, market, stream.URL)
	// The test ends the current spotlight, because a market has the spotlight for a minute.
	if _, err := s.DB(t).Exec(t.Context(), `UPDATE hub.spotlight SET expires_at = now()`); err != nil {
		t.Fatal(err)
	}
	last := time.Now()
	stack.Eventually(t, 100*time.Second, "the stream on the screen", func() bool {
		if time.Since(last) > 15*time.Second {
			last = time.Now()
			sendHeartbeat(t, o, market)
		}
		stage, err := browser.TryEval[string](b, `document.getElementById("tv")?.dataset.stage ?? ""`)
		return err == nil && stage == "picture"
	})
	requirePlaying(t, b)
	b.Await("#tv-kicker", "Live · @")
	b.Await("#tv-price", "Ochre Rovers31.5¢", "Slate City68.5¢")
	b.RequireFits()
	b.ForgetOutage()
	b.Forget("Content Security Policy") // violations for the host that the opened page did not allow
	b.RequireNoProblems()
}

// TestScreenNamesTheSides checks that the segments of the programme and the screen name the sides of a market, as text. The screen
// shows a programme with one market. The test does not run in parallel, because the screen counts as a viewer of its market.
func TestScreenNamesTheSides(t *testing.T) {
	s := system(t)
	const yes, no = "<script>window.ran = 1</script> Rovers", "Slate City" // the ledger removes tags, and then decodes entities
	m := s.NewVenueMarket(t, "polymarket", 0.973, stack.JSON{
		"question": "Who wins?", "tags": []string{"Science"}, "outcomes": []string{html.EscapeString(yes), no}, "volume": 250_000,
		"endDate": stack.Stamp(time.Now().Add(72 * time.Hour)),
	})
	m.Read(t)
	query := "?limit=400&preset=close&spec=" + url.QueryEscape(`{"categories":["science"],"minVolume":249999,"maxVolume":250001,"minYes":97.2,"maxYes":97.4}`)
	for name, programme := range map[string]string{"hub": s.Hub + "/api/network/program", "clock": s.Clock + "/program/channel"} {
		stack.Eventually(t, time.Minute, "a segment with the names of the sides at the "+name, func() bool {
			segment := stack.Send(t, http.MethodGet, programme+query).Require(http.StatusOK)
			return segment.Member("segments.0.id") == m.ID && segment.Member("segments.0.sides.yes") == yes &&
				segment.Member("segments.0.sides.no") == no
		})
	}
	b := browser.Open(t, browser.Phone)
	b.RunFirst(`{
		window.WebSocket = undefined; // without snapshots, the names come from the segments
		const read = window.fetch;
		window.fetch = (target, ...rest) => String(target).includes('/api/broadcast/spotlight') ? Promise.reject(new Error('no answer')) :
			read(String(target).replace(/\/api\/broadcast\/program\?.*/, '/api/network/program` + query + `'), ...rest);
	}`)
	b.Visit(s.Hub+"/tv", http.StatusOK)
	b.Await("#tv-lanes", yes+" 97.3¢")
	stack.Eventually(t, browser.Within, "the price of a segment", func() bool {
		return b.Visible("tv-price") == "" || b.Visible("tv-yes-name") == yes && b.Visible("tv-no-name") == no
	})
	b.RequireFits()
	if b.Count("#tv script") != 0 || browser.Eval[bool](b, `"ran" in window`) {
		t.Error("the name of a side became HTML")
	}
}

// TestBumpersOfLiveOperators checks that the bumpers of the programme name the live operator who shows their market, and that the
// record of this operator gets a bumper. Operators who are not approved are in no bumper.
func TestBumpersOfLiveOperators(t *testing.T) {
	t.Parallel()
	s := system(t)
	o, hidden := s.NewOperator(t), s.NewOperator(t)
	for i, side := range []string{"YES", "YES", "NO"} {
		market := s.NewNativeMarket(t, 3100+i, nil)
		for _, caller := range []*stack.Operator{o, hidden} {
			caller.NewCall(t, market, side, 5000, nil)
		}
		s.Finalize(t, market, "YES")
	}
	bumpers := func() []any { return read(t, s.Hub+"/api/broadcast/bumpers").List("bumpers") }
	var market string
	stack.Eventually(t, time.Minute, "a bumper that announces a market, and one that names the station", func() bool {
		market = ""
		ident := false
		for _, v := range bumpers() {
			b, _ := v.(map[string]any)
			starts, _ := b["scheduledFor"].(string)
			at, err := time.Parse(time.RFC3339, starts)
			switch b["kind"] {
			case "ident":
				ident = err == nil && at.Minute() == 0 && at.Second() == 0 && time.Until(at) <= time.Hour && b["marketId"] == nil
			case "next_up":
				if time.Until(at) > 10*time.Minute {
					market, _ = b["marketId"].(string)
				}
			}
		}
		return ident && market != ""
	})
	for _, caller := range []*stack.Operator{o, hidden} {
		setOverlay(t, caller, stack.JSON{"marketId": market, "name": "Next"})
	}
	sendHeartbeat(t, hidden, market)
	broadcast(t, o, market, newStream(t).URL)
	last := time.Now()
	stack.Eventually(t, 100*time.Second, "bumpers with the record and the market of "+o.Handle, func() bool {
		if time.Since(last) > 15*time.Second {
			last = time.Now()
			sendHeartbeat(t, o, market)
			sendHeartbeat(t, hidden, market)
		}
		next, record := false, false
		for _, v := range bumpers() {
			b, _ := v.(map[string]any)
			if b["handle"] == hidden.Handle {
				t.Fatalf("a bumper names an operator who is not approved: %v", b)
			}
			text, _ := b["text"].(string)
			next = next || b["kind"] == "next_up" && b["marketId"] == market && b["handle"] == o.Handle
			record = record || b["kind"] == "record" && b["handle"] == o.Handle && strings.HasPrefix(text, "2 of 3 calls won, ")
		}
		return next && record
	})
}
