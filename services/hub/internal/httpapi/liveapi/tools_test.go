package liveapi

import (
	"testing"

	"github.com/signalcast/signalcast/proto/openapi"
	programv1 "github.com/signalcast/signalcast/proto/program/v1"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/mcp/mcptest"
	"github.com/signalcast/signalcast/services/hub/internal/livestream"
)

// TestEmptyResultsFit checks tool results without optional data against the result schemas: no list is null and no required
// member is missing.
func TestEmptyResultsFit(t *testing.T) {
	t.Parallel()
	overlay := overlaySignalOf(livestream.Overlay{MarketID: "1", Name: "x", Handle: "mara_k"})
	mcptest.Fits(t, "get_program", showProgram(&programv1.Program{}, false))
	mcptest.Fits(t, "get_program", openapi.ProgramOff{})
	mcptest.Fits(t, "set_live_signal", openapi.OverlaySet{Ok: true, Signal: overlay})
	mcptest.Fits(t, "set_live_signal", openapi.OverlayCleared{Ok: true})
	mcptest.Fits(t, "set_live_signal", dryOverlayJSON{overlay, true})
	mcptest.Fits(t, "set_live_signal", dryClearedJSON{DryRun: true})
}
