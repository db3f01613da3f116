package pages_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	cataloguev1 "github.com/signalcast/signalcast/proto/catalogue/v1"
	marketv1 "github.com/signalcast/signalcast/proto/market/v1"
	resolutionv1 "github.com/signalcast/signalcast/proto/resolution/v1"

	"github.com/signalcast/signalcast/services/hub/internal/memledger"
)

func TestMarketPage(t *testing.T) {
	t.Parallel()
	b := setup(t)
	w := b.get("/m/" + gauge)
	has(t, w, 200,
		"<title>"+question+" · Signalcast</title>", `<link rel="canonical" href="https://hub.example/m/701122">`,
		`<meta property="og:title" content="`+question, `content="YES 31.5%, NO 68.5%. Open. 1 call. Ends 30 Nov 2026, 12:00 UTC."`,
		`<a href="https://venue.example/event/gauge" rel="noopener nofollow ugc">Polymarket</a> · Science`, `is-open">Open<`,
		"<b>31.5%</b><span>YES</span>", "<b>68.5%</b><span>NO</span>", "73 days left", "$182,000", "$9,100", "$22,000",
		`<path class="line" d="M`, `<a class="mark side-no" href="/receipts/`+callID+`" tabindex="-1"><title>@mara_k: NO at 68.5¢, 18 Sep 2026, 11:40 UTC</title>`,
		`<a href="?interval=24H#price" title="last 24 hours" aria-current="true">24H</a>`, `<a href="?interval=1H#price" title="last hour">1H</a>`,
		"Crowd, 1 call", "<b>−31.5</b> points. The crowd believes less in YES than the market does.",
		"Leans NO", "Mean confidence: NO 70", "1 take: 0 for YES, 1 for NO", "Last 24 hours: 1 call, price −4.5 points",
		"The dam opened at noon.", "68.5¢", "Kalshi · Same lane", `<a href="/m/kalshi-MILL">`,
		`"marketId":"701122","direction":"YES","priceAtPrediction":3150}`, `<a href="/dev">developer page</a>`, `aria-current="page">Markets</a>`,
		"!available right now", "!No outcome yet", "!Top forecasters")
	if cached(w) != "public, s-maxage=10|" {
		t.Error(cached(w))
	}
	has(t, b.get("/m/"+gauge+"?interval=1H"), 200, `title="last hour" aria-current="true"`, `!title="last 24 hours" aria-current`)
	has(t, b.get("/m/"+gauge+"?interval=ALL"), 200, "No price history in this stretch.", `class="mark side-no"`)
	has(t, b.get("/m/"+gauge+"?interval=%3Cb%3E"), 200, `title="last 24 hours" aria-current="true"`)
	has(t, b.get("/m/kalshi-MILL"), 200, "No price history for the stretch 24H.", "Nobody has called this market yet.", "No calls, no sentiment.", "No market belongs with this one.", "!Volume")
}

// TestMarketPageParts: each part may be missing, and nothing else is then; one that
// does not answer in time does not hold the others.
func TestMarketPageParts(t *testing.T) {
	t.Parallel()
	parts := map[string][2]string{ // by method: what the page says, and what it lacks
		"ListHistory":  {"Price history is not available right now.", `class="line"`},
		"ListLedger":   {"The calls are not available right now.", "The dam opened"},
		"GetCrowd":     {"The crowd is not available right now.", "Crowd, 1 call"},
		"GetOutcome":   {"The outcome is not available right now.", ""},
		"GetSentiment": {"Sentiment is not available right now.", "Leans NO"},
		"GetRelated":   {"Related markets are not available right now.", "Same lane"},
	}
	for _, c := range []struct {
		name   string
		err    error
		source string
	}{{"away", memledger.ErrDB, "db"}, {"broken", errors.New("broken"), "internal_error"}, {"silent", nil, "signal_service"}} {
		for method := range parts {
			t.Run(method+" "+c.name, func(t *testing.T) {
				t.Parallel()
				b := setup(t)
				b.fail(c.err, method)
				began := time.Now()
				w := b.get("/m/" + gauge)
				if took := time.Since(began); took > 3*time.Second {
					t.Errorf("it took %v", took)
				}
				if cached(w) != "no-store|"+c.source {
					t.Error(cached(w))
				}
				for m, part := range parts {
					if m == method {
						has(t, w, 200, part[0])
						if part[1] != "" {
							has(t, w, 200, "!"+part[1])
						}
						continue
					}
					has(t, w, 200, "!"+part[0], part[1])
				}
				has(t, w, 200, question, "31.5%")
				if len(b.degraded) != 1 || b.degraded[0] != "/m/:marketId "+c.source {
					t.Errorf("counted: %v", b.degraded)
				}
			})
		}
	}
	t.Run("all of them", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.fail(memledger.ErrDB, "ListHistory", "ListLedger", "GetCrowd", "GetOutcome", "GetSentiment", "GetRelated")
		w := b.get("/m/" + gauge)
		has(t, w, 200, question, "31.5%")
		if n := strings.Count(w.Body.String(), "not available right now"); n != 7 { // the calls twice: their number, too
			t.Errorf("%d parts are missing", n)
		}
	})
}

func TestMarketPageWithoutMarket(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, id := range []string{"999", "nope", "native-0123456789abcdef", strings.Repeat("9", 200)} {
		has(t, b.get("/m/"+id), 404, "Nothing here", `<a href="/markets">`)
	}
	b.fail(memledger.ErrDB, "GetMarket")
	w := b.get("/m/" + gauge)
	has(t, w, 503, "One moment")
	if w.Header().Get("Cache-Control") != "no-store" || w.Header().Get("Retry-After") != "1" || b.ledger.Count("ListHistory") != 0 {
		t.Error(w.Header())
	}
}

// TestMarketStates: the state of a market in plain words, and what came of it.
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
		"closed":  {func(m *marketv1.Market) { m.Status = "closed" }, nil, []string{"Closed, outcome pending", "!curl", "since the beginning\" aria-current"}},
		"ended":   {past, nil, []string{"Ended, outcome pending", "!curl", "!left<"}},
		"unknown": {func(m *marketv1.Market) { m.Status, m.YesBps = "unknown", nil }, nil, []string{"Status unknown", "NO SIGNAL"}},
		"resolved": {resolved, claim("NO", nil), []string{
			`is-resolved">Resolved NO<`, `class="outcome no"`, "oracle, polymarket", "18 Sep 2026, 09:00 UTC", "!curl", "<b>71%</b><span>closing price of YES",
			`<a href="https://records.example/gauge" rel="noopener nofollow ugc">Proof of the outcome</a>`, "<dt>Closing price</dt><dd>71% YES</dd>",
		}},
		"void":      {resolved, claim("INVALID", func(o *resolutionv1.Outcome) { o.ProofUrl = nil }), []string{"Resolved void", "!Proof of the outcome"}},
		"no link":   {resolved, claim("YES", func(o *resolutionv1.Outcome) { o.ProofUrl = proto.String("javascript:alert(1)") }), []string{"Resolved YES", "!javascript:"}},
		"disputed":  {resolved, claim("YES", func(o *resolutionv1.Outcome) { o.Disputed, o.DisputeReason = true, proto.String("wrong <gauge>") }), []string{`is-disputed">Disputed<`, "Resolved YES", "Disputed: wrong &lt;gauge&gt;"}},
		"flagged":   {nil, &resolutionv1.Outcome{Disputed: true}, []string{"No outcome yet", "Disputed: the outcome is under review", "!curl"}},
		"labels":    {func(m *marketv1.Market) { m.Outcomes = []string{"Over", "Under"} }, nil, []string{"<b>31.5%</b><span>Over</span>", "Price of Over"}},
		"contracts": {func(m *marketv1.Market) { m.VolumeUnit = "contracts" }, nil, []string{"182,000 contracts", "$9,100"}},
		"odd price": {func(m *marketv1.Market) { m.YesBps = proto.Int32(99_999) }, nil, []string{"<b>100%</b>", "<b>0%</b>"}},
	} {
		b := setup(t)
		b.set(func(m *marketv1.Market) {
			if c.market != nil {
				c.market(m)
			}
		})
		b.ledger.Lock()
		if c.outcome != nil {
			b.ledger.Outcomes[gauge] = c.outcome
		}
		call := b.ledger.Signals[0].Signal
		if c.outcome.GetOutcome() != "" {
			call.Status, call.Score = "won", proto.Int32(31)
			b.ledger.Markets[gauge].ClosePriceBps = proto.Int32(7100)
		}
		b.ledger.Unlock()
		t.Run(name, func(t *testing.T) { has(t, b.get("/m/"+gauge), 200, c.words...) })
	}
}

// TestSentimentWords: the words of the page and the numbers of the
// sentiment have one rule.
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
		{3, 3, 1.195, 0.805, "Leans YES"}, // 19.5 is 20
		{3, 3, 1.194, 0.806, "Split"},
		{3, 2, 1.1, 1, "No clear lean"},
		{1, 0, 0, 0, "No clear lean"},
		{0, 0, 0, 0, "No calls, no sentiment."},
	} {
		b.ledger.Lock()
		b.ledger.Sentiments[gauge] = &cataloguev1.GetSentimentResponse{Yes: c.yes, No: c.no, WeightYes: c.wy, WeightNo: c.wn}
		b.ledger.Unlock()
		has(t, b.get("/m/"+gauge), 200, c.word)
	}
}

// TestManyCalls: the newest stand in the table, the others are folded away.
func TestManyCalls(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.ledger.Lock()
	one := b.ledger.Signals[0].Signal
	for i := range 150 {
		s := proto.CloneOf(one)
		s.Id = "0199f0f0-0000-7000-8000-0000000" + string(rune('0'+i/100)) + string(rune('0'+i/10%10)) + string(rune('0'+i%10)) + "00"
		s.Direction, s.PriceBps, s.ScoreBasisBps, s.Handle = "YES", 3000, 3000, ""
		b.ledger.Signals = append(b.ledger.Signals, &memledger.Filed{Owner: s.Id, Signal: s})
	}
	b.ledger.Unlock()
	w := b.get("/m/" + gauge)
	has(t, w, 200, "<summary>88 more</summary>", "op_0123456789abcdef", "<dt>Calls</dt><dd>151</dd>", "Top forecasters: <b>67% YES of 3 calls</b>", "Crowd, 151 calls", "The crowd believes more")
	if n := strings.Count(w.Body.String(), `class="mark `); n != 100 {
		t.Errorf("%d marks", n)
	}
	if strings.Contains(w.Body.String(), callID) {
		t.Error("it shows the oldest call of 151")
	}
}

// TestHostileTexts: whatever a venue or a caller writes is text.
func TestHostileTexts(t *testing.T) {
	t.Parallel()
	for _, evil := range []string{
		`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `' onmouseover='alert(1)`, `</title><script>alert(1)</script>`, `javascript:alert(1)`,
		`</svg><script>alert(1)</script>`, `]]><x>`, "{{.}}", "\u202e<b>", `<style>*{}</style>`, "\x00\x01<b>", strings.Repeat("<b>", 3000),
	} {
		b := setup(t)
		b.set(func(m *marketv1.Market) {
			m.Title, m.Description, m.Url, m.Lane, m.VolumeUnit, m.Outcomes = evil, evil, evil, evil, evil, []string{evil, evil}
			m.Provider, m.ResolutionSource, m.Status = evil, &evil, evil
		})
		b.ledger.Lock()
		call := b.ledger.Signals[0].Signal
		call.Handle, call.PublicId, call.TextTake, call.Status = evil, evil, &evil, evil
		b.ledger.Outcomes[gauge] = &resolutionv1.Outcome{
			Outcome: &evil, Resolver: &evil, Source: &evil, ProofUrl: &evil, Disputed: true, DisputeReason: &evil,
		}
		b.ledger.Relations[gauge] = []*cataloguev1.Relation{{Relation: evil, Market: &marketv1.Market{Id: "12", Provider: evil, Title: evil, Status: "resolved", ResolutionValue: &evil}}}
		b.ledger.Tiles[""] = []*cataloguev1.Tile{{Id: evil, Label: evil, MarketId: gauge, Title: evil, Lane: evil, ImageUrl: evil}}
		b.ledger.Markets["kalshi-MILL"] = &marketv1.Market{Id: "kalshi-MILL", Provider: "kalshi", Title: evil, Status: "open", Lane: evil}
		b.ledger.Unlock()
		for _, target := range []string{"/m/" + gauge, "/markets", "/markets?q=" + strings.NewReplacer("%", "%25", "&", "%26", "+", "%2B", " ", "+", "#", "%23", ";", "%3B").Replace(strings.Trim(evil, "\x00\x01"))} {
			w := b.get(target)
			has(t, w, 200, "!<b>\n", "!<img", "!onerror=alert(1)>", "!' onmouseover='", "!<x>", `!href="javascript:`, "!<style>")
		}
	}
}
