// Command message registers a signer and submits a signed call. Usage: message MARKET.
package main

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/signalcast/signalcast/sdk/go/signalcast"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: message MARKET")
	}
	c, err := signalcast.New(signalcast.Options{Hub: os.Getenv("SIGNALCAST_HUB"), Token: signalcast.Key(os.Getenv("SIGNALCAST_KEY"))})
	check(err)
	ctx := context.Background()
	_, private, err := ed25519.GenerateKey(nil)
	check(err)
	signer, err := signalcast.NewSigner(private)
	check(err)
	registered, err := c.Messages.RegisterSigner(ctx, signer, []string{"signal:create"}, "example")
	check(err)
	issuer, err := c.Apps.Issuer(ctx)
	check(err)
	signed, err := signer.Sign(issuer.Issuer, signalcast.Message{
		Type: "signal.create", DenpaID: registered.DenpaID, At: time.Now(),
		Payload: map[string]any{"marketId": os.Args[1], "position": "YES", "priceBps": 5000},
	})
	check(err)
	done, err := c.Messages.Submit(ctx, signed)
	check(err)
	fmt.Println("submitted:", done.ID, done.URI)
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
