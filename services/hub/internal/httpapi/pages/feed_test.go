package pages_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/timestamppb"

	feedv1 "github.com/signalcast/signalcast/proto/feed/v1"
)

// record is a fake feed service that returns one page from memory.
type record struct {
	feedv1.FeedReadServiceClient
	page *feedv1.ListEventsResponse
	err  error

	mu    sync.Mutex
	asked *feedv1.ListEventsRequest
}

func (r *record) ListEvents(_ context.Context, q *feedv1.ListEventsRequest, _ ...grpc.CallOption) (*feedv1.ListEventsResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked = q
	return r.page, r.err
}

func TestFeedPage(t *testing.T) {
	t.Parallel()
	b := setup(t)
	at := timestamppb.New(time.Date(2026, 9, 18, 11, 59, 58, 0, time.UTC))
	b.feed.page = &feedv1.ListEventsResponse{Head: 41, Events: []*feedv1.Event{
		{Seq: 41, Type: "signal.resolved", At: at, Handle: "mara_k", MarketId: "1", Data: `{"signalId":"` + callID + `","marketTitle":"Will it snow?","status":"won","score":38}`},
		{Seq: 40, Type: "market.resolved", At: at, MarketId: "1", Data: `{"marketId":"1","marketTitle":"Will it hail?","outcome":"YES"}`},
		{Seq: 39, Type: "signal.event", At: at, Handle: "mara_k", Data: `{"signalId":"` + callID + `","event":{"type":"confidence","payload":{"confidence":80}}}`},
		{Seq: 38, Type: "signal.created", At: at, Handle: "mara_k", MarketId: "1", Data: `{"id":"` + callID + `","marketTitle":"Will it <b>rain</b>?","direction":"NO","priceAtPrediction":6850,"scoreBasisBps":6900,"textTake":"<script>x</script>"}`},
		{Seq: 37, Type: "signal.created", At: at, Data: `no JSON`},
		{Seq: 36, Type: "signal.resolved", At: at, Data: `{"signalId":"` + callID + `","status":"lost","score":-1}`},
		{Seq: 34, Type: "signal.created", At: at, MarketId: "2", Data: `{"id":"` + callID + `","direction":"NO","priceAtPrediction":6850,"sides":{"yes":"Ochre Rovers","no":"<script>x</script> \u202eCity"}}`},
		{Seq: 33, Type: "market.resolved", At: at, MarketId: "2", Data: `{"outcome":"YES","sides":{"yes":"Ochre Rovers of the North Bank and the Old Harbour","no":"Slate City"}}`},
		{Seq: 35, Type: "market.resolved", At: at, MarketId: "1", Data: `{"marketId":"1","outcome":"INVALID"}`},
	}}
	w := b.get("/feed")
	page := w.Body.String()
	for _, want := range []string{
		`data-socket="wss://api.example/ws"`, `data-head="41"`, `data-channel="signals"`, "Won, &#43;38 points", "Lost, −1 point<", ">Void<", "80% confidence", "NO at 69¢, stated 68.5¢", "&lt;script&gt;x&lt;/script&gt; City at 68.5¢<", ">Ochre Rovers of the North Bank and the…<",
		"Will it &lt;b&gt;rain&lt;/b&gt;?", "&lt;script&gt;x&lt;/script&gt;", `<a class="fact" href="/receipts/` + callID, `<a class="t" href="/m/1">Will it`, ">Will it snow?<", ">Will it hail?<", "/u/mara_k", "11:59:58", "<noscript>",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q", want)
		}
	}
	if got := w.Header().Get("Content-Security-Policy"); w.Code != http.StatusOK || !strings.HasSuffix(got, "; script-src 'self'; connect-src 'self' wss://api.example") {
		t.Errorf("%d %q", w.Code, got)
	}
	if b.feed.asked.GetLimit() != 50 || len(b.feed.asked.GetTypes()) != 3 || strings.Count(page, "<li class=") != 9 {
		t.Errorf("%v", b.feed.asked)
	}
	for query, channel := range map[string]string{"?of=resolutions": "resolutions", "?lane=science": "signals:lane:SCIENCE", "?of=nope": "signals", "?lane=other": "signals", "?of=wire": "wire"} {
		if page := b.get("/feed" + query).Body.String(); !strings.Contains(page, `data-channel="`+channel+`"`) {
			t.Errorf("%s is not %s", query, channel)
		}
	}
	b.feed.err = context.DeadlineExceeded
	if w := b.get("/feed"); w.Code != http.StatusOK || w.Header().Get("X-Degraded") == "" || !strings.Contains(w.Body.String(), "Activity is unavailable") {
		t.Errorf("%d %v", w.Code, w.Header())
	}
	for name, kind := range map[string]string{"feed.js": "text/javascript", "signalcast-feed.js": "text/javascript"} {
		if w := b.get("/static/" + name); w.Code != http.StatusOK || !strings.HasPrefix(w.Header().Get("Content-Type"), kind) {
			t.Errorf("%s: %d %v", name, w.Code, w.Header())
		}
	}
}
