package contract

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/test/system/openapi"
	"github.com/signalcast/signalcast/test/system/stack"
)

// eventSchemas contains the schema of the data of each type of numbered events.
var eventSchemas = map[string]string{
	"signal.created": "FeedSignal", "signal.event": "CallEventData", "signal.resolved": "CallResolvedData", "market.status": "MarketStatusData",
	"market.resolved": "MarketOutcomeData", "market.disputed": "MarketOutcomeData", "market.dispute_cleared": "MarketOutcomeData",
	"moment.minted": "MintedData", "stream.bound": "StreamBoundData", "stream.unbound": "StreamUnboundData", "operator.live": "LiveShow",
	"operator.offline": "PastShow", "clip.ready": "Clip", "segment.started": "Segment", "segment.preempted": "PreemptedData",
}

// TestEventsMatchTheDocumentation checks that the data of each event type matches the documentation. The data must name the
// market, and for events of a call also its receipt and operator.
func TestEventsMatchTheDocumentation(t *testing.T) {
	t.Parallel()
	s, doc := system(t), openapi.ForTest(t)
	p := s.NewOperator(t)
	market := s.NewNativeMarket(t, 5000, nil)
	id := p.File(t, stack.Call(market, "YES", 5000)).Require(http.StatusOK).Text("id")
	note := stack.JSON{"type": "note", "payload": stack.JSON{"text": "5.9 m at noon"}}
	post(t, s.Hub+"/api/signals/"+id+"/events", stack.Bearer(p.Key), stack.Body(note)).Require(http.StatusCreated)
	dispute := func(disputed bool) {
		body := stack.Body(stack.JSON{"marketId": market, "disputed": disputed})
		post(t, s.Hub+"/api/resolution/dispute", s.Admin(), body).Require(http.StatusOK)
	}
	s.Finalize(t, market, "YES")
	dispute(true)
	dispute(false)
	required := []string{"signal.created", "signal.event", "signal.resolved", "market.resolved", "market.disputed", "market.dispute_cleared"}
	events := map[string]map[string]any{}
	stack.Eventually(t, 20*time.Second, "events of every type", func() bool {
		var feed struct {
			Items []struct {
				Type, MarketID string
				Data           map[string]any
			}
		}
		get(t, s.API+"/api/v1/feed?limit=200").Require(http.StatusOK).Decode(&feed)
		for _, item := range feed.Items {
			if err := doc.CheckSchema(eventSchemas[item.Type], item.Data); err != nil {
				t.Errorf("%s: %v", item.Type, err)
			}
			if item.MarketID == market && slices.Contains(required, item.Type) {
				events[item.Type] = item.Data
			}
		}
		return t.Failed() || len(events) == len(required)
	})
	for kind, data := range events {
		t.Run(kind, func(t *testing.T) {
			text := func(name string) string {
				v, _ := data[name].(string)
				return v
			}
			if text("marketId") != market || text("marketTitle") == "" {
				t.Errorf("the data does not name the market: %v", data)
			}
			call := text("id")
			if named := text("signalId"); named != "" {
				call = named
			}
			isCall := strings.HasPrefix(kind, "signal.")
			if isCall && (call != id || text("handle") != p.Handle || !strings.HasSuffix(text("receiptUrl"), "/receipts/"+id)) {
				t.Errorf("the data does not name the call, its operator and its receipt: %v", data)
			}
		})
	}
}
