package stationapi

import (
	"testing"

	marketv1 "github.com/signalcast/signalcast/proto/market/v1"
	"github.com/signalcast/signalcast/proto/openapi"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/mcp/mcptest"
)

// TestEmptyResultsFit checks tool results without optional data against the result schemas: no list is null and no required
// member is missing.
func TestEmptyResultsFit(t *testing.T) {
	t.Parallel()
	s := &Server{HubURL: "https://hub.example"}
	bare := &marketv1.Market{Id: "1", Provider: "polymarket", Status: "open", Lane: "OTHER"}
	mcptest.Fits(t, "get_market", openapi.NetworkMarketAnswer{Market: s.showNetworkMarket(bare, nil), Crowd: showNetworkCrowd(nil)})
}
