package pages_test

import (
	"strings"
	"testing"

	recordv1 "github.com/signalcast/signalcast/proto/record/v1"
	signalv1 "github.com/signalcast/signalcast/proto/signal/v1"
	wirev1 "github.com/signalcast/signalcast/proto/wire/v1"
	"github.com/signalcast/signalcast/services/api/apitest"
)

// TestPagesNameTheSides checks that the pages name the sides of a market whose outcomes are not Yes and No. The names are escaped
// and cut, and a page reads them at once. While they cannot be read, the pages show YES and NO.
func TestPagesNameTheSides(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.recorded()
	b.partnered()
	b.ledger.Exec(`UPDATE markets SET outcome_labels = $2, yes_index = 1 WHERE market_id = $1`, gauge,
		[]string{"<script>x</script>\u202e City", "Ochre Rovers of the North Bank and the Old Harbour"})
	const yes, no = "Ochre Rovers of the North Bank and the…", "&lt;script&gt;x&lt;/script&gt; City"
	b.ledger.Lock()
	b.ledger.Records["mara_k"].Recent = []*signalv1.Signal{{Id: momentID, MarketId: gauge, Direction: "NO", ScoreBasisBps: 6850, PriceBps: 6850}}
	b.ledger.Records["mara_k"].Moments = []*recordv1.Moment{{SignalId: momentID, MarketId: gauge, Direction: "YES", OddsBps: 1200, Tier: "RARE"}}
	b.ledger.Top = [2]int32{67, 3}
	b.ledger.Moves = []*wirev1.Move{
		{MarketId: gauge, Outcome: "Ochre <b>Rovers</b>", FromBps: 3000, ToBps: 3150},
		{MarketId: "7", Outcome: "Yes", FromBps: 1000, ToBps: 2000},
		{MarketId: "8", FromBps: 4000, ToBps: 5000},
	}
	b.ledger.Unlock()
	has(t, b.get("/u/mara_k"), 200, `<span class="pill side-no">`+no+"</span> 68.5¢", `<span class="pill side-yes">`+yes+"</span> 12¢")
	if n := b.ledger.Count("ListMarkets"); n != 1 {
		t.Errorf("the page reads the names %d times, want once", n)
	}
	has(t, b.get("/operator/mara_k/embed"), 200, "<b>"+no+" 68.5¢</b>")
	has(t, b.get("/markets"), 200, "<b>"+yes+" 31.5¢</b>")
	has(t, b.get("/m/"+gauge), 200, `content="`+yes+" 31.5¢, "+no+" 68.5¢.", "<b>31.5¢</b><span>"+yes, "Price of "+yes, yes+" call</span>", no+" call</span>",
		"Each mark shows the "+yes+" price", "@mara_k: "+no+" at 68.5¢", "less confident in "+yes+" than", "67% "+yes+" in 3 calls", "Leans "+no, "Average confidence: "+no+" 70%",
		"1 take: 0 for "+yes+", 1 for "+no, `<span class="pill side-no">`+no, "In a call, YES is "+yes+" and NO is "+no+".")
	if page := strings.ReplaceAll(b.get("/feed?of=wire").Body.String(), "&#43;", "+"); !strings.Contains(page, ">Ochre &lt;b&gt;Rovers&lt;/b&gt; 30¢ to 31.5¢<") ||
		!strings.Contains(page, ">YES 10¢ to 20¢<") || !strings.Contains(page, ">YES 40¢ to 50¢<") {
		t.Errorf("the price moves have no names: %s", page)
	}
	b.ledger.Fail(apitest.ErrDB, "ListMarkets")
	w := b.get("/u/mara_k")
	has(t, w, 200, `<span class="pill side-no">NO</span> 68.5¢`)
	cached(t, w, shared)
}
