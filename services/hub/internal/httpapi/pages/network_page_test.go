package pages_test

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	boardv1 "github.com/signalcast/signalcast/proto/board/v1"
	recordv1 "github.com/signalcast/signalcast/proto/record/v1"
	"github.com/signalcast/signalcast/services/api/apitest"
)

func TestBoardPage(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.ledger.Board = []*boardv1.Row{}
	has(t, b.get("/board"), 200, "No forecasters on this leaderboard yet.", `<a href="/board?operators=all">`, "Ranked by the lower bound", `aria-current="page">Leaderboard</a>`)
	has(t, b.get("/board?operators=all"), 200, "No forecasters on this leaderboard yet.", "!See all forecasters")
	b.ledger.Board = []*boardv1.Row{
		b.ranked(1, "ann", reported(t, [4]int64{5000, 0, 400, 260})), b.ranked(2, "bob", reported(t, [4]int64{5000, 0, 10, 6})), b.ranked(3, "cy", nil), b.ranked(4, "dan", nil),
	}
	b.ledger.Board[1].Operator.OperatorType, b.ledger.Board[1].Operator.Tier = "ai_agent", "automated"
	b.ledger.Board[1].Operator.DisplayName, b.ledger.Board[1].Operator.AvatarUrl = "Bob C", proto.String("https://img.example/b.png")
	b.ledger.Board[2].Operator.Tier, b.ledger.Board[2].Operator.DisplayName = "house", "<b>Cy</b>"
	b.ledger.Board[3].Operator.DisplayName, b.ledger.Board[3].Won, b.ledger.Board[3].Lost, b.ledger.Board[3].Accuracy = "", 0, 0, 0
	b.ledger.Board[3].Operator.AvatarUrl, b.ledger.Board[3].Operator.ClosingAt = proto.String("https://img.example/d.png"), timestamppb.Now()
	w := b.get("/board?order=score")
	has(t, w, 200, `<a href="/u/ann"><i class="avatar" aria-hidden="true">A</i> <b><bdi>ANN</bdi></b>`, `aria-hidden="true">BC<img src="/u/bob/picture?v=e41b5c53" alt=""`, "<b>599</b>", "57%", "8–6", `<span class="bot">AI</span>`, `<span class="badge">House</span>`,
		"&lt;b&gt;Cy&lt;/b&gt;", "<bdi>@dan</bdi>", "Updated 18 Sep 2026", `href="/api/operator/leaderboard"`, "!No forecasters", "!Ranked by the lower bound",
		"!/u/dan/picture")
	cached(t, w, shared)
	has(t, b.get("/board"), 200, "Ranked by the lower bound", `class="span up"`, `class="span open"`, `aria-label="Edge +15 percentage points`,
		"The intervals assume that calls are independent", "1 in 40", "!28 days", `href="/api/operator/leaderboard?order=edge"`)
	has(t, b.get("/board?order=edge&operators=automated&lane=Science&window=28d"), 200, "AI agents and bots",
		`<a href="/board?lane=science&amp;operators=automated" aria-current="true">Bots</a>`)
	if q := apitest.Last[*boardv1.ListBroadcastRequest](b.ledger); q.GetOperators() != "automated" || q.GetOrder() != "edge" || q.GetLane() != "SCIENCE" || q.GetWindow() != "all" || q.GetLimit() != 100 {
		t.Errorf("asked for %v", q)
	}
	has(t, b.get("/board?operators=%3Cscript%3E&window=x&lane=y&order=z"), 200, `aria-current="true">People</a>`, `aria-current="true">All time</a>`, `href="https://hub.example/board?order=score"`)
	b.ledger.Fail(apitest.ErrDB, "ListBroadcast")
	w = b.get("/board")
	has(t, w, 200, "The leaderboard is unavailable.", "!No forecasters on")
	cached(t, w, "no-store|db")
	if len(b.degraded) != 1 {
		t.Error(b.degraded)
	}
}

func TestNetworkPage(t *testing.T) {
	t.Parallel()
	b := setup(t)
	has(t, b.get("/network"), 200, "This station", "No active partner stations.", "No resolved calls yet.", "No clips yet.")
	b.partnered()
	w := b.get("/network")
	has(t, w, 200,
		`<a href="https://river.example/hello" rel="noopener noreferrer nofollow ugc"><bdi>Station river</bdi></a></h3><span class="verdict up">Active</span>`,
		"All about &lt;b&gt;river&lt;/b&gt;.", "Listed below: 1 forecaster, 1 clip. Lanes: Science, World. Last update 18 Sep 2026, 11:59 UTC.",
		`<span class="verdict down">No updates</span>`, "Its data is too old to show", `<span class="verdict open">No data yet</span>`, "!Station paused",
		`<a href="/u/mara_k"><b><bdi>Mara K</bdi></b>`, `<span class="badge">House</span>`, "Otto &#34;O&#34; &lt;script&gt;", `<a href="https://river.example/u/otto" rel="noopener noreferrer nofollow ugc">`,
		`<a class="t" href="/m/701122">`+question, "1:35", `1 view · <span title="shown before other clips">boosted</span>`, "!No active partner", "!unavailable")
	if body := w.Body.String(); strings.Index(body, "Otto") > strings.Index(body, "Mara K") {
		t.Error("an operator with fewer points is listed first")
	}
	cached(t, w, shared)
	b.ledger.Fail(apitest.ErrDB, "GetMarket") // a tape is complete without the title of its market
	w = b.get("/network")
	has(t, w, 200, ">Market 701122</a>")
	cached(t, w, shared)
}

func TestNetworkPageParts(t *testing.T) {
	t.Parallel()
	const stations, operators, tapes = "Partner stations are unavailable", "Forecasters are unavailable", "Clips are unavailable"
	for method, words := range map[string][]string{
		"ListActiveStations": {stations, "!" + operators, "!" + tapes, "Mara K", "!No active partner"}, "ListOperators": {operators, "!" + stations, "Station river", "!No resolved calls"},
		"": {tapes, operators, "Station river", "The time of the last update is unknown."},
	} {
		b := setup(t)
		b.partnered()
		b.ledger.Fail(apitest.ErrDB, method)
		if method == "" {
			b.store.fail = apitest.ErrDB
		}
		w := b.get("/network")
		has(t, w, 200, words...)
		cached(t, w, "no-store|db")
	}
}

func TestPulsePage(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.ledger.Pulse = &recordv1.GetPulseResponse{GeneratedAt: timestamppb.New(b.clock.Now())}
	has(t, b.get("/pulse"), 200, "No calls yet.", "No calls by people yet.")
	b.clock.Advance(11e9)
	weeks := make([]*recordv1.Week, 16)
	for i := range weeks {
		weeks[i] = &recordv1.Week{Start: b.clock.Now().AddDate(0, 0, 7*(i-15)-4).Format("2006-01-02"), Automated: int64(100 * i)}
	}
	weeks[14].Independent, weeks[14].ActiveIndependent, weeks[15].House = 14, 5, 2
	b.ledger.Pulse = &recordv1.GetPulseResponse{
		Weeks: weeks, Signals: 1840, IndependentSignals: 212, Last7: 9, Prev7: 14, Registered: 1, ClvCount: 990, BeatLine: 512,
		Prices:              []*recordv1.PriceRange{{Calls: 12, Wins: 3, PriceBps: 3000}},
		LastIndependentWeek: "2026-09-07", GeneratedAt: timestamppb.New(b.clock.Now()),
	}
	w := b.get("/pulse")
	has(t, w, 200, "The share of won calls differs from the price by 5¢ on average, over 12 counted calls.",
		`aria-label="Prices and outcomes with 1 group of calls;`, `<td class="num">30–40¢</td><td class="num n">12</td><td class="num n">25%</td>`,
		"<b>2.8</b>", "14 calls by 5 people in the week of 7 Sep", "<b>−5</b> compared", "1,840", "52%", "calls by people: week of 7 Sep",
		`aria-label="Calls by people in 16 weeks: 14, at most 14 in one week"`, `aria-label="Calls by house accounts and bots in 16 weeks: 12,002, at most 1,502 in one week"`,
		"1<small>account, including 0 house accounts</small>", "9</b><span>calls by people</span>",
		">1.5k</text>", `<time datetime="2026-09-14">14 Sep</time>`, `aria-current="page">Activity</a>`)
	if n := strings.Count(w.Body.String(), ">0</text>"); n != 16 { // 15 weeks without people and one week without bots
		t.Errorf("%d weeks have the label 0, want 16", n)
	}
	b.clock.Advance(11e9)
	weeks[14].Independent, weeks[14].ActiveIndependent = 1, 1
	b.ledger.Pulse = &recordv1.GetPulseResponse{
		Weeks: weeks, Signals: 1, Last7: 1, Registered: 1, HouseOperators: 1, Resolutions28: 1,
		GeneratedAt: timestamppb.New(b.clock.Now()),
	}
	has(t, b.get("/pulse"), 200, "<b>1</b><span>call per active forecaster</span>", "<b>1</b><span>call by people</span>",
		"1 call by 1 person in the week", "1<small>account, including 1 house account</small>",
		"1<small>market resolved in the last 28 days</small>")
	b.clock.Advance(11e9)
	b.ledger.Fail(apitest.ErrDB, "GetPulse")
	w = b.get("/pulse")
	has(t, w, 200, "Network statistics are unavailable.")
	cached(t, w, "no-store|db")
}
