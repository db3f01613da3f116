package system

import (
	"net/http"
	"testing"

	"github.com/google/uuid"

	"github.com/signalcast/signalcast/sdk/go/client"
	"github.com/signalcast/signalcast/test/system/stack"
)

// A call on a native market is filed and read with the Go library and scored by the resolution.
func TestCallIsFiledAndScored(t *testing.T) {
	t.Parallel()
	s := stack.Shared(t)
	o := s.NewOperator(t)
	market := s.NewNativeMarket(t, 4000, nil)

	filed, err := o.SDK(t).Signals.File(t.Context(), client.SignalDraft{MarketID: market, Direction: "YES", PriceAtPrediction: 4000})
	if err != nil {
		t.Fatal(err)
	}
	o.File(t, stack.Call(market, "NO", 6000)).RequireError(http.StatusConflict, "already_predicted")
	s.Finalize(t, market, "YES")

	call, err := o.SDK(t).Signals.Get(t.Context(), uuid.UUID(filed.ID))
	if err != nil {
		t.Fatal(err)
	}
	if call.Status != "won" || call.Score == nil || *call.Score != 60 {
		t.Errorf("status %s, score %v; want won, 60", call.Status, call.Score)
	}
}
