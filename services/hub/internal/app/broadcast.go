package app

import (
	"github.com/signalcast/signalcast/services/hub/internal/broadcast"
	"github.com/signalcast/signalcast/services/hub/internal/postgres"
	"github.com/signalcast/signalcast/services/hub/internal/upstream"
)

// broadcast builds what is shown of the air beside the programme.
func (a *App) broadcast(store *postgres.Store) *broadcast.Service {
	wire := upstream.NewWire(a.ledger)
	d := broadcast.Deps{
		Stage: stage{a.onair}, Spotlights: store, Markets: upstream.NewMarkets(a.ledger), Talk: wire, Wire: wire,
		Feed: upstream.NewFeed(a.ledger), Tapes: store, Streamers: store.OnAir(), Now: a.now,
	}
	if a.clock != nil {
		programs := upstream.NewPrograms(a.clock)
		d.Clock, d.Influences = programs, programs
	}
	return broadcast.New(d)
}
