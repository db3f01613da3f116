package app

import (
	"math/rand/v2"

	"github.com/signalcast/signalcast/pkg/safedial"
	"github.com/signalcast/signalcast/services/api/internal/hook"
	"github.com/signalcast/signalcast/services/api/internal/station"
	"github.com/signalcast/signalcast/services/api/internal/webhook"
)

// callOut builds what sends the feed to webhooks, and the register of the stations that
// the hub reads.
func (a *App) callOut() {
	private := a.cfg.HookPrivate
	vault := webhook.NewVault(a.cfg.HookKey.Reveal())
	a.sender = hook.NewSender(safedial.Options{Private: private}, a.now)
	a.webhooks = webhook.NewService(a.store, a.sender, vault, webhook.Addresses{Private: private, Public: safedial.Public}, a.now)
	a.hooks = hook.New(hook.Options{
		Work: a.store, Memory: a.hub, Sender: a.sender, Vault: vault,
		Now: a.now, NewID: newID, Chance: rand.Float64, Log: a.log,
	})
	partners := webhook.Addresses{Private: a.cfg.Loopback, Public: safedial.Public}
	a.stations = station.NewService(a.store, a.cfg.HubURL, func(url string) bool { return partners.Check(url) == nil }, a.now)
}
