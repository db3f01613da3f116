package app

import (
	"github.com/signalcast/signalcast/pkg/ledgerclient"
	programv1 "github.com/signalcast/signalcast/proto/program/v1"
	"github.com/signalcast/signalcast/services/hub/internal/broadcast"
	"github.com/signalcast/signalcast/services/hub/internal/postgres"
)

// broadcast builds what is shown of the air beside the programme.
func (a *App) broadcast(store *postgres.Store) *broadcast.Service {
	return broadcast.New(broadcast.Deps{
		Ledger: a.api, Stage: stage{a.onair}, Spotlights: store,
		Tapes: store, Streamers: store.OnAir(), Programs: a.programs(), Now: a.now,
	})
}

// programs returns the client of the clock's programmes; nil without a clock.
func (a *App) programs() programv1.ProgramReadServiceClient {
	if a.clock == nil {
		return nil
	}
	return programv1.NewProgramReadServiceClient(ledgerclient.WithDeadlines(a.clock))
}
