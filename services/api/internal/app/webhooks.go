package app

import (
	"math/rand/v2"

	"github.com/signalcast/signalcast/pkg/safedial"
	"github.com/signalcast/signalcast/services/api/internal/delivery"
	"github.com/signalcast/signalcast/services/api/internal/station"
	"github.com/signalcast/signalcast/services/api/internal/webhook"
)

// buildOutbound builds the webhook services and the service of partner stations. These services store URLs that users choose,
// so they check that each URL is allowed.
func (a *App) buildOutbound() {
	vault := webhook.NewVault(a.cfg.HookKey.Reveal())
	a.sender = delivery.NewSender(safedial.Options{Private: a.cfg.HookPrivate}, a.now)
	a.webhooks = webhook.NewService(a.store, a.sender.Send, vault, delivery.AllowedURL(a.cfg.HookPrivate), a.now)
	a.hooks = &delivery.Worker{
		Feed: a.store, Hooks: a.store, Memory: a.broker, Send: a.sender.Send, Vault: vault,
		Now: a.now, Chance: rand.Float64, Log: a.log,
	}
	a.stations = station.NewService(a.store, a.cfg.HubURL, delivery.AllowedURL(a.cfg.StationPrivate), a.now)
}
