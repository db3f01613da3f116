package rows

import (
	"context"
	"fmt"
	"net/http"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
)

// stationsPath is where partner stations are registered, at the ledger's own host.
const stationsPath = "/api/v1/stations"

// stationDraft is a station as it is registered.
func stationDraft(id string) map[string]any {
	return map[string]any{"stationId": id, "name": "Station " + id, "url": "https://" + id + ".example"}
}

// enlist registers a station that waits for an admin; one that is there stays.
func enlist(ctx context.Context, env *frame.Env, as client.Credential, id string) error {
	a := env.Client.Do(ctx, client.Request{URL: env.Stack.API + stationsPath, As: as, Body: stationDraft(id)})
	if a.Status == http.StatusConflict && a.Code() == "station_exists" {
		return nil
	}
	if err := a.Into(http.StatusCreated, nil); err != nil {
		return fmt.Errorf("register a station: %w", err)
	}
	return nil
}
