package feed

import (
	"encoding/json"
	"testing"

	"github.com/signalcast/signalcast/sdk/go/client"
)

// TestDecode checks that the type of an event selects the type of its data, and that data of an unknown type stays unchanged.
func TestDecode(t *testing.T) {
	t.Parallel()
	e := &Event{Seq: 7, Type: SignalCreated, Data: json.RawMessage(`{"marketId":"701122","direction":"NO","priceAtPrediction":6850,"new":1}`)}
	data, err := e.Decode()
	call, ok := data.(*client.FeedSignal)
	if err != nil || !ok || call.MarketID != "701122" || call.Direction != client.SideNO || call.PriceAtPrediction != 6850 {
		t.Errorf("a call: %+v, %v", data, err)
	}
	e.Type = MarketDisputed
	e.Data = json.RawMessage(`{"marketId":"701122","outcome":"YES","disputed":true}`)
	if data, err := e.Decode(); err != nil || !data.(*client.MarketOutcomeData).Disputed {
		t.Errorf("a dispute: %+v, %v", data, err)
	}
	e.Type = "market.frozen"
	data, err = e.Decode()
	if raw, ok := data.(json.RawMessage); err != nil || !ok || string(raw) != string(e.Data) {
		t.Errorf("an unknown type: %s, %v", data, err)
	}
	e.Type, e.Data = PriceTick, json.RawMessage(`{"marketId":7}`)
	if data, err := e.Decode(); err == nil {
		t.Errorf("data of another form was decoded as %+v", data)
	}
}
