package stationapi

import (
	"testing"

	marketv1 "github.com/signalcast/signalcast/proto/market/v1"
	"github.com/signalcast/signalcast/proto/openapi"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/mcp/mcptest"
)

// TestEmptyResultsFit checks results without optional facts: no list is null, and every member that the schema requires is there.
func TestEmptyResultsFit(t *testing.T) {
	t.Parallel()
	s := &Server{HubURL: "https://hub.example"}
	bare := &marketv1.Market{Id: "1", Provider: "polymarket", Status: "open", Lane: "OTHER"}
	mcptest.Fits(t, "get_market", openapi.NetworkMarketAnswer{Market: s.showNetworkMarket(bare, nil), Crowd: showNetworkCrowd(nil)})
}
