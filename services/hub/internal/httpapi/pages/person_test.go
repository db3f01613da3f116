package pages_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/signalcast/signalcast/pkg/protocol"
	operatorv1 "github.com/signalcast/signalcast/proto/operator/v1"
	recordv1 "github.com/signalcast/signalcast/proto/record/v1"
	signalv1 "github.com/signalcast/signalcast/proto/signal/v1"
	"github.com/signalcast/signalcast/services/api/apitest"
	"github.com/signalcast/signalcast/services/hub/internal/identityclaim"
)

func TestPersonPage(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.recorded()
	b.store.followers, b.store.claims = 11, []identityclaim.Claim{{Station: "partner", Identity: "0xabc", VerifiedAt: b.clock.Now(), ProfileURL: "javascript:alert(1)"}}
	w := b.get("/u/MARA_K")
	has(t, w, 200,
		"<title>Mara K (@mara_k) · Signalcast</title>", `<link rel="canonical" href="https://hub.example/u/mara_k">`,
		`content="@mara_k on Signalcast. 24 calls, 12 won, 6 lost, +48 points."`, `content="https://hub.example/api/card/operator/mara_k.png"`,
		"<b>+48</b><span>points · <span title=\"by the number of resolved calls\">Level 3 forecaster</span> · Rank 4 of 41 by points</span>", `aria-label="12 calls won, 6 lost, 1 void, 5 open"`,
		"<dt>Win rate</dt><dd>67%</dd>", "<dt>Win streak</dt><dd>2</dd>", ">Closing line value (bps)</dt><dd>+115</dd>",
		`<a href="/receipts/`+momentID+`">Will the dam hold?</a> <b>won at 12¢</b>`, "People.</b> Independent forecaster",
		"Could be luck", "too few are resolved to tell skill from luck. At this rate, 10 more calls would show skill.",
		`aria-label="Edge +20 percentage points, 95% interval −5.1 to +39.8"`, "assumes independent calls and a record that is checked only once",
		`aria-label="Points by call: lowest −10, highest +140, now +88, luck alone ±359"`, "Stated confidence was more accurate than the market price.",
		"Brier score 0.190, market price 0.228.", `<td class="num">61–70%</td><td class="num n">12</td><td class="num n">75%</td>`,
		"Edge by lane", ">Science<", "12 calls, 9 won", `<span class="tier-word">Rare</span><b>+88 points</b>`,
		`role="img" aria-label="Last 20 results, oldest first: 20 won, 0 lost"`, `<td class="num">14</td><td class="num n">+88</td><td class="num n">±359</td>`,
		"The dam opened at noon.", "Recent calls", "#calls\">More calls</a>", `<a href="/api/operator/mara_k/record">`, "format=csv",
		"go run ./cmd/signalcast record verify https://hub.example/api/operator/mara_k/record",
		"&lt;iframe src=&#34;https://hub.example/operator/mara_k/embed&#34;", "0xabc", "<b>11</b> followers",
		"!javascript:", "!unavailable", "!This is a bot", "!Newest calls")
	cached(t, w, shared)
	has(t, w, 200, `<a href="/u/mara_k#calls" aria-current="true">All 24</a><a href="/u/mara_k?state=open#calls">Open 5</a>`,
		`>Resolved 18</a>`, `>Void 1</a>`)
	has(t, b.get("/u/mara_k?state=resolved"), 200, `href="/u/mara_k?state=resolved#calls" aria-current="true"`, "noindex",
		`&amp;state=resolved#calls">More calls`)
	if q := apitest.Last[*recordv1.ListCallsRequest](b.ledger); !slices.Equal(q.GetStatuses(), []string{"won", "lost"}) || q.GetOwn() {
		t.Errorf("asked for %v", q)
	}
	has(t, b.get("/u/mara_k?state=lost"), 200, `aria-current="true">All 24<`, "!noindex")
	for _, link := range []string{`href="/board"`, `href="/network"`, `href="/pulse"`} {
		has(t, w, 200, link)
	}
}

// TestCallThatDoesNotCount (docs/guarantees.md P9) checks that a resolved call that is not counted is marked on its receipt and
// on the pages of its forecaster and market.
func TestCallThatDoesNotCount(t *testing.T) {
	t.Parallel()
	b := setup(t)
	decide := func(status string, verified, counted bool) {
		b.edit(func(s *signalv1.Signal) {
			s.Status, s.Score, s.PriceVerified, s.Counted = status, proto.Int32(31), verified, &counted
		}, nil, nil, nil)
	}
	pages := []string{"/receipts/" + callID, "/u/mara_k", "/m/" + gauge}
	decide("won", false, false)
	for _, path := range pages {
		has(t, b.get(path), 200, "not counted")
	}
	has(t, b.get("/u/mara_k"), 200, `<span class="result won"><b>Won</b>, not counted</span>`, "!+31")
	b.clock.Advance(time.Hour)
	decide("won", true, true)
	for _, path := range pages {
		has(t, b.get(path), 200, "+31", "!not counted")
	}
}

// TestPersonCalls checks that the pages together list every call, and that an invalid cursor shows the first page.
func TestPersonCalls(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.recorded()
	seen, target := map[string]bool{}, "/u/mara_k"
	for page := range 4 {
		body := b.get(target).Body.String()
		for _, piece := range strings.Split(body, `<li class="won"><a href="/receipts/`)[1:] {
			seen[piece[:36]] = true
		}
		_, rest, more := strings.Cut(body, `rel="next" href="`)
		if more != (page < 2) || strings.Contains(body, "Newest calls") != (page > 0) {
			t.Fatalf("page %d: more %v", page, more)
		}
		if !more {
			break
		}
		target, _, _ = strings.Cut(rest, `"`)
		target = strings.TrimSuffix(target, "#calls")
	}
	if len(seen) != 60 {
		t.Errorf("%d calls are on the pages", len(seen))
	}
	has(t, b.get("/u/mara_k?before=%3Cscript%3E"), 200, "Recent calls", "The dam opened at noon.")
	oldest := protocol.NewCursor("0199f0f0-0000-7000-8000-000000000000", protocol.TimeKey(b.clock.Now().Add(-90*time.Hour))).Encode()
	has(t, b.get("/u/mara_k?before="+oldest), 200, "Older calls", "No older calls.", `name="robots" content="noindex"`)
}

// TestPersonStates checks the texts for operators without calls, with only open calls, for bots, for house accounts, and for
// unknown handles.
func TestPersonStates(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, handle := range []string{"quiet", "waits", "robot", "bot", "desk", "seeded", "lucky", "unlucky", "sure", "long"} {
		b.ledger.AddOperator(handle)
	}
	b.ledger.Exec(`UPDATE users SET is_house = handle = 'desk', seeded = handle = 'seeded',
		operator_type = CASE handle WHEN 'robot' THEN 'ai_agent' WHEN 'bot' THEN 'system_bot' ELSE 'human' END`)
	b.ledger.Lock()
	b.ledger.Records = map[string]*recordv1.GetOperatorRecordResponse{
		"waits": {Stats: &recordv1.Stats{Total: 3}}, "robot": {Stats: &recordv1.Stats{Total: 1, Won: 1, Score: 40, Accuracy: 100}},
	}
	b.ledger.Skills = map[string]*recordv1.GetSkillResponse{
		"lucky  all": {Report: reported(t, [4]int64{5000, 0, 2, 2})}, "unlucky  all": {Report: reported(t, [4]int64{5000, 0, 100, 20})},
		"sure  all": {Report: reported(t, [4]int64{5000, 0, 400, 260})}, "long  all": {Report: reported(t, [4]int64{5000, 0, 10, 4})},
	}
	b.ledger.Courses = map[string]*recordv1.GetCourseResponse{"long": {Before: 120, Steps: []*recordv1.Step{{Score: 90, Calls: 1}, {Score: 70, Calls: 90}}}}
	b.ledger.Unlock()
	for handle, words := range map[string][]string{
		"quiet":   {"@quiet has no calls yet.", "No calls yet.", "!Skill or luck", "!Points by call", "!Calibration", "!Long-shot wins", "<b>0</b><span>points · <span", ">Level 1 forecaster</span></span>"},
		"waits":   {"@waits has no resolved calls yet.", "!has no calls", "<dt>Calls</dt><dd>3</dd>", "<dt>Win rate</dt><dd>–</dd>", "3 open"},
		"robot":   {`<span class="bot">AI</span>`, "This is a bot.", "a bot (AI)", "!Rank "},
		"bot":     {`<span class="bot">Bot</span>`, "This is a bot."},
		"seeded":  {"Bots.</b> A bot. Rankings of people exclude it."},
		"desk":    {"House.</b> An account that the administrators of this service run."},
		"lucky":   {"Could be luck", "more calls would show", "25% would do"},
		"unlucky": {"Below the prices", `class="span down"`, "!more calls would", "nearly all would do"},
		"sure":    {"More than luck", `class="span up"`, "!more calls would", "fewer than 1 in a million would do"},
		"long":    {"Could be luck", "No edge over the prices so far.", "The chart starts at +120 points and shows the newest 10,000 calls.", "now +70"},
	} {
		has(t, b.get("/u/"+handle), 200, words...)
	}
	for _, handle := range []string{"no_such_user", "x", "no-handle", strings.Repeat("a", 60), "%3Cb%3E"} {
		has(t, b.get("/u/"+handle), 404, "Page not found")
	}
	has(t, b.get("/u/No_Such_User"), 404, "No forecaster is called @no_such_user.")
	has(t, b.get("/u/no-handle"), 404, "There is no page at this address.", "!no-handle")
	b.ledger.Fail(apitest.ErrDB, "GetOperator")
	has(t, b.get("/u/quiet"), 503, "Temporarily unavailable")
}

// TestPersonParts checks that the profile page is served without the parts whose source fails.
func TestPersonParts(t *testing.T) {
	t.Parallel()
	checkParts(t, "/u/mara_k", "/u/:handle", map[string][2]string{
		"GetOperatorRecord": {"The record is unavailable.", "<b>+48</b>"},
		"ListCalls":         {"Calls are unavailable.", "The dam opened"},
		"GetSkill":          {"Statistics are unavailable.", "Could be luck"},
		"GetCourse":         {"Points by call are unavailable.", `class="line up"`},
	}, (*fixture).recorded)
	b := setup(t)
	b.recorded()
	b.ledger.Fail(apitest.ErrDB, "GetOperatorRecord", "ListCalls", "GetSkill", "GetCourse")
	b.store.fail = apitest.ErrDB
	w := b.get("/u/mara_k")
	has(t, w, 200, "Mara K", "Followers are unavailable", "Linked wallets are unavailable", "!no calls yet")
	if n := strings.Count(w.Body.String(), `class="unavailable"`); n != 6 {
		t.Errorf("%d parts are missing", n)
	}
}

// TestStatisticsAreCached checks that views of a profile within 10 seconds read the statistics once, and that a later view reads
// them again.
func TestStatisticsAreCached(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.recorded()
	read := func() int { return b.ledger.Count("GetSkill") + b.ledger.Count("GetCourse") }
	has(t, b.get("/u/mara_k"), 200, "Could be luck")
	first, skill := read(), b.ledger.Count("GetSkill")
	for range 2 {
		has(t, b.get("/u/mara_k"), 200, "Could be luck")
	}
	if n := read(); first == 0 || n != first {
		t.Errorf("%d reads for the first page, %d more for the next two", first, n-first)
	}
	b.clock.Advance(11 * time.Second)
	has(t, b.get("/u/mara_k"), 200, "Could be luck")
	if b.ledger.Count("GetSkill") == skill {
		t.Error("the statistics are not read again after 11 s")
	}
}

// TestHostilePerson checks that the profile pages escape all texts of an operator.
func TestHostilePerson(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.recorded()
	evil := `"><img src=x onerror=alert(1)><script>alert(2)</script>&#x22;` + "\u202e"
	b.edit(func(s *signalv1.Signal) { s.MarketTitle, s.TextTake = evil, &evil },
		func(o *operatorv1.Operator) { o.DisplayName, o.Bio = evil, &evil }, nil, func(answer proto.Message) {
			if a, ok := answer.(*recordv1.GetOperatorRecordResponse); ok {
				a.Best.MarketTitle = evil
				for _, m := range a.GetMoments() {
					m.MarketTitle = evil
				}
				for _, s := range a.GetRecent() {
					s.MarketTitle, s.TextTake = evil, &evil
				}
			}
		})
	w := b.get("/u/mara_k")
	has(t, w, 200, "!<img", "&lt;img src=x onerror=alert(1)&gt;", "<h1><bdi>")
	has(t, b.get("/operator/mara_k/embed"), 200, "!<img", "&lt;img src=x")
}

// TestLongRecordIsASmallPage checks that the profile page of an operator with 10,000 calls has a bounded size.
func TestLongRecordIsASmallPage(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.recorded()
	b.ledger.Exec(`INSERT INTO signals (id, market_id, user_id, yes, price_bps, score_basis_bps, price_verified, rated, created_at, market_title, source)
		SELECT gen_random_uuid(), i::text, $1, true, 3000, 3000, true, true, $2::timestamptz - i * interval '1 minute', 'Will it rise?', 'web'
		FROM generate_series(1, 10000) i`, b.mara.GetId(), b.clock.Now())
	b.ledger.Lock()
	c := b.ledger.Courses["mara_k"]
	c.Steps = nil
	for i := range 120 {
		c.Steps = append(c.Steps, &recordv1.Step{At: timestamppb.New(b.clock.Now().Add(time.Duration(i-150) * time.Hour)), Score: int64(i*i - 90*i), Calls: 84})
	}
	var tallies [][4]int64
	for p := int64(100); p < 10_000; p += 7 {
		tallies = append(tallies, [4]int64{p, p / 100, 7, p * 7 / 10_000})
	}
	b.ledger.Skills["mara_k  all"].Report = reported(t, tallies...)
	b.ledger.Unlock()
	w := b.get("/u/mara_k")
	has(t, w, 200, "More calls", "Calibration")
	if n := w.Body.Len(); n > 64<<10 {
		t.Errorf("%d bytes", n)
	}
}

// TestEmbedPage checks that the embed needs only one read of the record, and that other sites may show it in a frame.
func TestEmbedPage(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.recorded()
	b.ledger.Lock()
	b.ledger.Records["mara_k"].Recent = []*signalv1.Signal{{Id: momentID, MarketTitle: "Will the dam hold?", Direction: "YES", PriceBps: 1200, ScoreBasisBps: 1200, Status: "won"}}
	b.ledger.Unlock()
	w := b.get("/operator/mara_k/embed")
	has(t, w, 200, "<dd>24</dd>", "<dd>67%</dd>", "<dd>+48</dd>", "<b>YES 12¢</b> <span>Will the dam hold?</span>")
	if policy := w.Header().Get("Content-Security-Policy"); !strings.Contains(policy, "frame-ancestors *") || w.Header().Get("X-Frame-Options") != "" {
		t.Error(w.Header())
	}
	if n := b.ledger.Count("ListFeed") + b.ledger.Count("GetRecord"); n != 0 {
		t.Errorf("%d reads other than the record, want 0", n)
	}
	b.ledger.Fail(apitest.ErrDB, "GetOperatorRecord")
	cached(t, b.get("/operator/mara_k/embed"), "no-store|record")
}
