package signalcast_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"

	"github.com/signalcast/signalcast/sdk/go/client"
	"github.com/signalcast/signalcast/sdk/go/signalcast"
)

// hub returns a fake hub on which NO of market 701122 costs 7100 bps. It rejects calls and answers dry runs.
func hub() *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.Header.Get("Idempotency-Key") != "" {
			w.WriteHeader(http.StatusConflict)
			_, _ = fmt.Fprint(w, `{"error":"price_moved","reason":"moved","marketYesBps":3000,"yesPriceBps":3100,"noPriceBps":7100}`)
			return
		}
		_, _ = fmt.Fprint(w, `{"ok":true,"dryRun":true,"priceAtPrediction":6950,"scoreBasisBps":7100,"priceVerified":true,"rated":true,"warnings":[]}`)
	}))
}

// The hub rejects a call if its side costs over 200 bps more than the stated price.
func ExampleSignals_File() {
	server := hub()
	defer server.Close()
	c, err := signalcast.New(signalcast.Options{Hub: server.URL, Token: signalcast.Key("dk_x")})
	if err != nil {
		log.Fatal(err)
	}
	_, err = c.Signals.File(context.Background(), client.SignalDraft{MarketID: "701122", Direction: client.SideNO, PriceAtPrediction: 6850})
	refused := (*signalcast.Error)(nil)
	if errors.Is(err, signalcast.ErrPriceMoved) && errors.As(err, &refused) {
		fmt.Println("NO costs", refused.Extra["noPriceBps"])
	}
	// Output: NO costs 7100
}

// A dry run returns the prices that a call would store, and stores nothing.
func ExampleSignals_DryRun() {
	server := hub()
	defer server.Close()
	c, err := signalcast.New(signalcast.Options{Hub: server.URL, Token: signalcast.Key("dk_x")})
	if err != nil {
		log.Fatal(err)
	}
	would, err := c.Signals.DryRun(context.Background(), client.SignalDraft{MarketID: "701122", Direction: client.SideNO, PriceAtPrediction: 6950})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("stated", would.PriceAtPrediction, "scored at", would.ScoreBasisBps)
	// Output: stated 6950 scored at 7100
}
