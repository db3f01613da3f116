// Package signalcast is a client of the three Signalcast services: hub, api and clock.
//
//	c, err := signalcast.New(signalcast.Options{Hub: "https://hub.example", API: "https://api.example", Token: signalcast.Key(key)})
//	if err != nil {
//		return err
//	}
//	filed, err := c.Signals.File(ctx, client.SignalDraft{MarketID: "701122", Direction: client.SideYES, PriceAtPrediction: 6850})
//	if errors.Is(err, signalcast.ErrMarketClosed) {
//		return nil
//	}
//
// Operations without a method here are in the generated clients Client.Hub, Client.API and Client.Clock, with the same credentials
// and retries.
//
// The client retries requests where a retry cannot have a second effect, limits the size of responses, ignores unknown members and
// enum values, and returns lists as iterators over all pages. Package feed reads the live feed.
package signalcast
