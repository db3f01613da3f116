// Package signalcast is a client of the protocol: of the hub, the api and the clock.
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
// What the methods here do not cover, the generated client does: Client.Hub, Client.API and
// Client.Clock have every operation of the document, and go the same way.
//
// Requests are sent again where that cannot do anything twice, answers are bounded, unknown
// members and values are let through, and a list goes on page by page in a range loop. The
// live feed is package feed.
package signalcast
