package contract

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/test/system/openapi"
	"github.com/signalcast/signalcast/test/system/stack"
)

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
	schemas := map[string]string{
		"signal.created": "FeedSignal", "signal.event": "SignalEvent", "signal.resolved": "", "market.resolved": "Outcome",
		"market.disputed": "Outcome",
	}
	events := map[string]map[string]any{}
	stack.Eventually(t, 20*time.Second, "events of every type", func() bool {
		var feed struct {
			Items []struct {
				Type, MarketID string
				Data           map[string]any
			}
		}
		a := get(t, s.API+"/api/v1/feed?limit=200&types=signal.created,signal.event,signal.resolved,market.resolved,market.disputed")
		if err := json.Unmarshal(a.Require(http.StatusOK).Body, &feed); err != nil {
			t.Fatal(err)
		}
		for _, item := range feed.Items {
			if item.MarketID == market {
				events[item.Type] = item.Data
			}
		}
		return len(events) == len(schemas)
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
			value := any(data)
			switch {
			case schemas[kind] == "":
				return
			case kind == "signal.event":
				value = data["event"]
			case !isCall:
				delete(data, "marketId")
				delete(data, "marketTitle")
			}
			if err := doc.CheckSchema(schemas[kind], value); err != nil {
				t.Error(err)
			}
		})
	}
}
