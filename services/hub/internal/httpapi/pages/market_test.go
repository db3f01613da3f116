package pages_test

import (
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	cataloguev1 "github.com/signalcast/signalcast/proto/catalogue/v1"
	marketv1 "github.com/signalcast/signalcast/proto/market/v1"
	resolutionv1 "github.com/signalcast/signalcast/proto/resolution/v1"
	signalv1 "github.com/signalcast/signalcast/proto/signal/v1"
	"github.com/signalcast/signalcast/services/api/apitest"
)

func TestMarketPage(t *testing.T) {
	t.Parallel()
	b := setup(t)
	w := b.get("/m/" + gauge)
	has(t, w, 200,
		"<title>"+question+" · Signalcast</title>", `<link rel="canonical" href="https://hub.example/m/701122">`,
		`<meta property="og:title" content="`+question, `content="YES 31.5¢, NO 68.5¢. Open. 1 call. Ends 30 Nov 2026, 12:00 UTC."`,
		`<a href="https://venue.example/event/gauge" rel="noopener nofollow ugc">Polymarket</a> · Science`, `is-open">Open<`,
		"<b>31.5¢</b><span>YES</span>", "<b>68.5¢</b><span>NO</span>", "73 days left", "$182,000", "$9,100", "$22,000",
		`<path class="line" d="M`, `role="group" aria-label="Price of YES: low 30¢, high 31.5¢, last 31.5¢"`, `<td class="num n">30¢</td>`, `<a class="mark side-no" href="/receipts/`+callID+`" tabindex="-1"><title>@mara_k: NO at 68.5¢, 18 Sep 2026, 11:40 UTC</title>`,
		`<a href="?interval=24H#price" title="last 24 hours" aria-current="true">24H</a>`, `<a href="?interval=1H#price" title="last hour">1H</a>`,
		"Crowd, 1 call", `<b title="percentage points">−31.5 pp</b>. Forecasters are less confident in YES than the market.`,
		"Leans NO", "Average confidence: NO 70%", "1 take: 0 for YES, 1 for NO", "Last 24 hours: 1 call, price −4.5 percentage points",
		"The dam opened at noon.", "68.5¢", "Kalshi · Same lane", `<a href="/m/kalshi-MILL">`,
		`"marketId":"701122","direction":"YES","priceAtPrediction":3150}`, `<a href="/dev">developer page</a>`, `aria-current="page">Markets</a>`,
		"!unavailable", "!No outcome yet", "!Top forecasters")
	cached(t, w, shared)
	has(t, b.get("/m/"+gauge+"?interval=1H"), 200, `title="last hour" aria-current="true"`, `!title="last 24 hours" aria-current`)
	has(t, b.get("/m/"+gauge+"?interval=ALL"), 200, "No price history in this period. YES is at 31.5¢ now.", `!class="mark side`)
	has(t, b.get("/m/"+gauge+"?interval=%3Cb%3E"), 200, `title="last 24 hours" aria-current="true"`)
	has(t, b.get("/m/kalshi-MILL"), 200, "No price history in this period. YES is at 5¢ now.", "No calls yet.", "No calls by people yet.", "No related markets.", "!Volume")
}

// TestReceiptChart checks that a receipt has the price of its side, the distance to the outcome, and the prices as a table.
func TestReceiptChart(t *testing.T) {
	t.Parallel()
	b := setup(t)
	receipt := "/receipts/" + callID
	has(t, b.get(receipt), 200, "Price of NO</h2>", `aria-label="Price of NO: low 68.5¢, high 70¢, last 68.5¢"`, `<td class="num n">70¢</td>`,
		`<line class="level"`, "The dashed line is the price of the call, 68.5¢.", `<a class="mark side-no own"`, `!class="distance`)
	b.edit(func(s *signalv1.Signal) {
		s.Status, s.Score, s.Counted, s.ResolvedAt = "won", proto.Int32(31), proto.Bool(true), timestamppb.New(b.clock.Now())
	}, nil, nil, nil)
	has(t, b.get(receipt), 200, `<rect class="distance won"`, "to the outcome: +31 points.")
	b.ledger.Fail(apitest.ErrDB, "ListHistory")
	has(t, b.get(receipt), 200, "Price history is unavailable.", "!<figure")
}

// TestMarketPageParts checks that the page of a market is served without the parts whose source fails or times out.
func TestMarketPageParts(t *testing.T) {
	t.Parallel()
	checkParts(t, "/m/"+gauge, "/m/:marketId", map[string][2]string{
		"ListHistory":  {"Price history is unavailable.", `class="line"`},
		"ListLedger":   {"Calls are unavailable.", "The dam opened"},
		"GetCrowd":     {"The crowd estimate is unavailable.", "Crowd, 1 call"},
		"GetOutcome":   {"The outcome is unavailable.", ""},
		"GetSentiment": {"Sentiment is unavailable.", "Leans NO"},
		"GetRelated":   {"Related markets are unavailable.", "Same lane"},
	}, func(*fixture) {})
	t.Run("all of them", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.ledger.Fail(apitest.ErrDB, "ListHistory", "ListLedger", "GetCrowd", "GetOutcome", "GetSentiment", "GetRelated")
		w := b.get("/m/" + gauge)
		has(t, w, 200, question, "31.5¢")
		if n := strings.Count(w.Body.String(), `class="unavailable"`); n != 7 { // calls count twice: list and number
			t.Errorf("%d parts are missing", n)
		}
	})
}

func TestMarketPageWithoutMarket(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, id := range []string{"999", "nope", "native-0123456789abcdef", strings.Repeat("9", 200)} {
		has(t, b.get("/m/"+id), 404, "Page not found", `<a href="/markets">`)
	}
	b.ledger.Fail(apitest.ErrDB, "GetMarket")
	w := b.get("/m/" + gauge)
	has(t, w, 503, "Temporarily unavailable")
	if w.Header().Get("Cache-Control") != "no-store" || w.Header().Get("Retry-After") != "1" || b.ledger.Count("ListHistory") != 0 {
		t.Error(w.Header())
	}
	b.ledger.Fail(nil)
	has(t, b.get("/m/"+gauge), 200, "!degraded")
	b.ledger.Fail(apitest.ErrDB, "GetMarket")
	b.clock.Advance(59 * time.Minute)
	w = b.get("/m/" + gauge)
	has(t, w, 200, "The service is degraded. Prices as of 12:00 UTC.", "31.5¢", "No call can be filed now.", "!/call\"", "!Your entries")
	cached(t, w, "no-store|db")
	b.clock.Advance(2 * time.Minute)
	has(t, b.get("/m/"+gauge), 503, "Temporarily unavailable")
}

// TestMarketStates checks the labels of the status and outcome of a market.
func TestMarketStates(t *testing.T) {
	t.Parallel()
	past := func(m *marketv1.Market) { m.EndDate = timestamppb.New(time.Date(2026, 9, 18, 11, 59, 0, 0, time.UTC)) }
	claim := func(outcome string, more func(o *resolutionv1.Outcome)) *resolutionv1.Outcome {
		o := &resolutionv1.Outcome{
			Outcome: &outcome, Resolver: proto.String("oracle"), Source: proto.String("polymarket"),
			ProofUrl: proto.String("https://records.example/gauge"), ResolvedAt: timestamppb.New(time.Date(2026, 9, 18, 9, 0, 0, 0, time.UTC)),
		}
		if more != nil {
			more(o)
		}
		return o
	}
	resolved := func(m *marketv1.Market) { m.Status, m.YesBps = "resolved", nil }
	for name, c := range map[string]struct {
		market  func(m *marketv1.Market)
		outcome *resolutionv1.Outcome
		words   []string
	}{
		"closed":  {func(m *marketv1.Market) { m.Status = "closed" }, nil, []string{"Closed, outcome pending", "!curl", "all time\" aria-current"}},
		"ended":   {past, nil, []string{"Ended, outcome pending", "!curl", "!left<"}},
		"unknown": {func(m *marketv1.Market) { m.Status, m.YesBps = "unknown", nil }, nil, []string{"Status unknown", "No price"}},
		"resolved": {resolved, claim("NO", nil), []string{
			`is-resolved">Resolved NO<`, `class="outcome no"`, "Polymarket (oracle)", "18 Sep 2026, 09:00 UTC", "!curl", "<b>71¢</b><span>closing price of YES",
			`<a href="https://records.example/gauge" rel="noopener nofollow ugc">See the result on Polymarket</a>`, "<dt>Closing price</dt><dd>71¢ YES</dd>",
		}},
		"oracle": {resolved, claim("YES", func(o *resolutionv1.Outcome) { o.Source = proto.String("gauge office") }), []string{"Oracle (source: gauge office)", "!Venue"}},
		"admin": {resolved, claim("YES", func(o *resolutionv1.Outcome) {
			o.Resolver, o.Source = proto.String("manual"), proto.String("native")
		}), []string{"<dd>Administrator</dd>"}},
		"void":      {resolved, claim("INVALID", func(o *resolutionv1.Outcome) { o.ProofUrl = nil }), []string{"Resolved void", "!See the result"}},
		"no link":   {resolved, claim("YES", func(o *resolutionv1.Outcome) { o.ProofUrl = proto.String("javascript:alert(1)") }), []string{"Resolved YES", "!javascript:"}},
		"disputed":  {resolved, claim("YES", func(o *resolutionv1.Outcome) { o.Disputed, o.DisputeReason = true, proto.String("wrong <gauge>") }), []string{`is-disputed">Disputed<`, "Resolved YES", "Disputed: wrong &lt;gauge&gt;"}},
		"flagged":   {nil, &resolutionv1.Outcome{Disputed: true}, []string{"No outcome yet", "Disputed: the outcome is under review", "!curl"}},
		"labels":    {func(m *marketv1.Market) { m.Outcomes = []string{"Over", "Under"} }, nil, []string{"<b>31.5¢</b><span>Over</span>", "Price of Over"}},
		"contracts": {func(m *marketv1.Market) { m.VolumeUnit = "contracts" }, nil, []string{"182,000 contracts", "$9,100"}},
		"odd price": {func(m *marketv1.Market) { m.YesBps = proto.Int32(99_999) }, nil, []string{"<b>100¢</b>", "<b>0¢</b>"}},
	} {
		b := setup(t)
		decided := c.outcome.GetOutcome() != ""
		b.edit(func(s *signalv1.Signal) {
			if decided {
				s.Status, s.Score = "won", proto.Int32(31)
			}
		}, nil, func(m *marketv1.Market) {
			if c.market != nil {
				c.market(m)
			}
			if decided {
				m.ClosePriceBps = proto.Int32(7100)
			}
		}, func(answer proto.Message) {
			if a, ok := answer.(*resolutionv1.GetOutcomeResponse); ok {
				a.Outcome = c.outcome
			}
		})
		t.Run(name, func(t *testing.T) { has(t, b.get("/m/"+gauge), 200, c.words...) })
	}
}

// TestSentimentWords checks the sentiment texts at the boundaries of the score.
func TestSentimentWords(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, c := range []struct {
		yes, no int64
		wy, wn  float64
		word    string
	}{
		{6, 4, 6, 4, "Leans YES"},
		{4, 6, 4, 6, "Leans NO"},
		{3, 3, 1.195, 0.805, "Leans YES"}, // 19.5 is rounded to 20
		{3, 3, 1.194, 0.806, "Split"},
		{3, 2, 1.1, 1, "No clear lean"},
		{1, 0, 0, 0, "No clear lean"},
		{0, 0, 0, 0, "No calls by people yet."},
	} {
		b.ledger.Lock()
		b.ledger.Sentiments[gauge] = &cataloguev1.GetSentimentResponse{Yes: c.yes, No: c.no, WeightYes: c.wy, WeightNo: c.wn}
		b.ledger.Unlock()
		has(t, b.get("/m/"+gauge), 200, c.word)
	}
}

// TestManyCalls checks the page of a market with 151 calls. It lists the newest 100, most of them in a collapsed section.
func TestManyCalls(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.ledger.Exec(`INSERT INTO users (id, issuer, provider_id, public_id, handle, display_name, created_at)
		SELECT gen_random_uuid(), 'seed', i::text, 'op_' || lpad(i::text, 16, '0'), 'seed' || i, 'Seed', $1 FROM generate_series(1, 150) i`, b.clock.Now())
	b.ledger.Exec(`INSERT INTO signals (id, market_id, user_id, yes, price_bps, score_basis_bps, price_verified, rated, created_at, market_title, source)
		SELECT gen_random_uuid(), $1, id, true, 3000, 3000, true, true, $2, '', 'web' FROM users WHERE issuer = 'seed'`, gauge, b.clock.Now())
	b.ledger.Exec(`UPDATE market_totals SET yes = 150, crowd_yes = 150 WHERE market_id = $1`, gauge)
	b.edit(func(s *signalv1.Signal) { s.Handle, s.PublicId = "", "op_0123456789abcdef" }, nil, nil, nil)
	b.ledger.Lock()
	b.ledger.Top = [2]int32{67, 3}
	b.ledger.Unlock()
	w := b.get("/m/" + gauge)
	has(t, w, 200, "<summary>Older calls (88)</summary>", "op_0123456789abcdef", "<dt>Calls</dt><dd>151</dd>", "Top forecasters: <b>67% YES in 3 calls</b>", "Crowd, 151 calls", "Forecasters are more confident in YES")
	if n := strings.Count(w.Body.String(), `class="mark `); n != 100 {
		t.Errorf("%d marks", n)
	}
	if strings.Contains(w.Body.String(), callID) {
		t.Error("the page shows the oldest of 151 calls")
	}
}

// TestHostileTexts checks that pages escape all texts of venues and callers.
func TestHostileTexts(t *testing.T) {
	t.Parallel()
	for _, evil := range []string{
		`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `' onmouseover='alert(1)`, `</title><script>alert(1)</script>`, `javascript:alert(1)`,
		`</svg><script>alert(1)</script>`, `]]><x>`, "{{.}}", "\u202e<b>", `<style>*{}</style>`, "\x00\x01<b>", strings.Repeat("<b>", 3000),
	} {
		b := setup(t)
		b.edit(func(s *signalv1.Signal) { s.Handle, s.PublicId, s.TextTake, s.Status = evil, evil, &evil, evil }, nil, func(m *marketv1.Market) {
			m.Title, m.Description, m.Url, m.Lane, m.VolumeUnit, m.Outcomes = evil, evil, evil, evil, evil, []string{evil, evil}
			m.Provider, m.ResolutionSource, m.Status = evil, &evil, evil
		}, func(answer proto.Message) {
			switch a := answer.(type) {
			case *resolutionv1.GetOutcomeResponse:
				a.Outcome = &resolutionv1.Outcome{Outcome: &evil, Resolver: &evil, Source: &evil, ProofUrl: &evil, Disputed: true, DisputeReason: &evil}
			case *cataloguev1.FindMarketsResponse:
				a.Markets = []*marketv1.Market{{Id: "kalshi-MILL", Provider: "kalshi", Title: evil, Status: "open", Lane: evil}}
			}
		})
		b.ledger.Lock()
		b.ledger.Relations[gauge] = []*cataloguev1.Relation{{Relation: evil, Market: &marketv1.Market{Id: "12", Provider: evil, Title: evil, Status: "resolved", ResolutionValue: &evil}}}
		b.ledger.Tiles[""] = []*cataloguev1.Tile{{Id: evil, Label: evil, MarketId: gauge, Title: evil, Lane: evil, ImageUrl: evil}}
		b.ledger.Unlock()
		for _, target := range []string{"/m/" + gauge, "/markets", "/markets?q=" + strings.NewReplacer("%", "%25", "&", "%26", "+", "%2B", " ", "+", "#", "%23", ";", "%3B").Replace(strings.Trim(evil, "\x00\x01"))} {
			w := b.get(target)
			has(t, w, 200, "!<b>\n", "!<img", "!onerror=alert(1)>", "!' onmouseover='", "!<x>", `!href="javascript:`, "!<style>")
		}
	}
}
