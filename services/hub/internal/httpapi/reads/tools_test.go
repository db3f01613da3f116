package reads

import (
	"testing"

	marketv1 "github.com/signalcast/signalcast/proto/market/v1"
	"github.com/signalcast/signalcast/proto/openapi"
	operatorv1 "github.com/signalcast/signalcast/proto/operator/v1"
	recordv1 "github.com/signalcast/signalcast/proto/record/v1"
	signalv1 "github.com/signalcast/signalcast/proto/signal/v1"
	"github.com/signalcast/signalcast/services/hub/internal/board"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/mcp/mcptest"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/view"
	"github.com/signalcast/signalcast/services/hub/internal/signal"
)

// TestEmptyResultsFit checks tool results without optional data against the result schemas: no list is null and no required
// member is missing.
func TestEmptyResultsFit(t *testing.T) {
	t.Parallel()
	s := &Server{HubURL: "https://hub.example"}
	operator := &recordv1.GetOperatorRecordResponse{Operator: &operatorv1.Operator{
		Handle: "mara_k", PublicId: "op_c8eb353a8e49313f", Tier: "independent", OperatorType: "human",
	}}
	call := view.ShowSignal(&signalv1.Signal{
		Id: "0199f0a4-0000-7000-8000-000000000001", PublicId: "op_c8eb353a8e49313f", MarketId: "1", Direction: "YES", Status: "pending",
	})
	row := showRow(&marketv1.Market{Id: "1", Provider: "polymarket", Status: "open", Lane: "OTHER"})
	mcptest.Fits(t, "get_operator", s.showAtom(operator, 0))
	mcptest.Fits(t, "get_operator", s.showBoard(boardQuery{Query: board.ParseQuery("", "", "", "")}, nil, nil, nil))
	mcptest.Fits(t, "get_signal", signalJSON{call, view.ShowEvents(nil)})
	mcptest.Fits(t, "list_signals", s.showFeed(signal.FeedRecent, nil))
	mcptest.Fits(t, "my_record", s.showFieldRecord(operator))
	mcptest.Fits(t, "search_markets", openapi.MarketRows{Markets: []openapi.MarketRow{}})
	mcptest.Fits(t, "search_markets", openapi.MarketRows{Markets: []openapi.MarketRow{row}, Count: 1})
}
