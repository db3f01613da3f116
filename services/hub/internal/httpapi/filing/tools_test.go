package filing

import (
	"testing"

	signalv1 "github.com/signalcast/signalcast/proto/signal/v1"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/mcp/mcptest"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/view"
	"github.com/signalcast/signalcast/services/hub/internal/signal"
)

// TestEmptyResultsFit checks tool results without optional data against the result schemas: no list is null and no required
// member is missing.
func TestEmptyResultsFit(t *testing.T) {
	t.Parallel()
	s := &Server{HubURL: "https://hub.example"}
	event := view.ShowEvent(&signalv1.Event{Type: string(signal.Note)})
	mcptest.Fits(t, "submit_signal", s.showFiled("0199f0a4-0000-7000-8000-000000000001", nil))
	mcptest.Fits(t, "submit_signal", showDrySignal(&signalv1.RehearseFileResponse{
		Signal: &signalv1.Signal{PublicId: "op_c8eb353a8e49313f", Direction: "YES", Status: "pending"},
	}))
	mcptest.Fits(t, "submit_signal_event", appendedJSON{Event: event})
	mcptest.Fits(t, "submit_signal_event", dryToolEventJSON{event, nil, true})
}
