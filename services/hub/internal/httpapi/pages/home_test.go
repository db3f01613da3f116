package pages_test

import (
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	boardv1 "github.com/signalcast/signalcast/proto/board/v1"
	feedv1 "github.com/signalcast/signalcast/proto/feed/v1"
	wirev1 "github.com/signalcast/signalcast/proto/wire/v1"
	"github.com/signalcast/signalcast/services/api/apitest"
)

func TestHomePage(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.ledger.Board, b.feed.page = []*boardv1.Row{}, &feedv1.ListEventsResponse{}
	w := b.get("/")
	has(t, w, 200, "How it works", "No forecaster is on air.", "No price moves in the last 24 hours.", "No calls yet.", "No resolutions yet.",
		"No forecaster has a resolved call yet.", `href="https://hub.example/"`)
	cached(t, w, shared)
	at := timestamppb.New(time.Date(2026, 9, 18, 11, 59, 58, 0, time.UTC))
	b.feed.page = &feedv1.ListEventsResponse{Head: 41, Events: []*feedv1.Event{{
		Seq: 38, Type: "signal.created", At: at, Handle: "mara_k", MarketId: "1",
		Data: `{"id":"` + callID + `","marketTitle":"Will it <b>rain</b>?","direction":"NO","priceAtPrediction":6850,"textTake":"<script>x</script>"}`,
	}}}
	b.ledger.Moves = []*wirev1.Move{{MarketId: "7", Provider: "kalshi", Title: "Will it hail?", FromBps: 4000, ToBps: 6100, DetectedAt: at}}
	b.ledger.Board = []*boardv1.Row{b.ranked(1, "ann", reported(t, [4]int64{5000, 0, 400, 260}))}
	b.ledger.Board[0].Operator.AvatarUrl = proto.String("https://img.example/a.png")
	has(t, b.get("/"), 200, "NO at 68.5¢", `href="/receipts/`+callID, "Will it &lt;b&gt;rain&lt;/b&gt;?", "&lt;script&gt;x&lt;/script&gt;",
		`<a class="t" href="/m/7">Will it hail?</a>`, "40¢ to 61¢", `<a href="/u/ann"><i class="avatar" aria-hidden="true">A<img src="/u/ann/picture?v=7c047e18"`, `</i> <b><bdi>ANN</bdi></b>`, "!No calls yet.",
		`data-only="signal.created" data-rows="6" data-head="41"`, `src="/static/feed.js?v=`)
	if q := apitest.Last[*boardv1.ListBroadcastRequest](b.ledger); q.GetOrder() != "edge" || q.GetOperators() != "independent" {
		t.Errorf("asked for %v", q)
	}
	b.ledger.Fail(apitest.ErrDB, "ListBroadcast", "ListMoves")
	b.feed.err = apitest.ErrDB
	w = b.get("/")
	has(t, w, 200, "How it works", "The leaderboard is unavailable.", "Price moves are unavailable.", "Calls are unavailable.", "Resolutions are unavailable.")
	cached(t, w, "no-store|db")
}
