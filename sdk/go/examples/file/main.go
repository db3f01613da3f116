// Command file files a call and prints the result. Usage: file MARKET YES|NO BPS. BPS is the stated price of the chosen side in
// basis points.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"strconv"

	"github.com/signalcast/signalcast/sdk/go/client"
	"github.com/signalcast/signalcast/sdk/go/signalcast"
)

func main() {
	if len(os.Args) != 4 {
		log.Fatal("usage: file MARKET YES|NO BPS")
	}
	price, err := strconv.Atoi(os.Args[3])
	if err != nil {
		log.Fatal(err)
	}
	c, err := signalcast.New(signalcast.Options{Hub: os.Getenv("SIGNALCAST_HUB"), Token: signalcast.Key(os.Getenv("SIGNALCAST_KEY"))})
	if err != nil {
		log.Fatal(err)
	}
	filed, err := c.Signals.File(context.Background(), client.SignalDraft{
		MarketID: os.Args[1], Direction: client.Side(os.Args[2]), PriceAtPrediction: price,
	})
	refused := (*signalcast.Error)(nil)
	switch {
	case errors.Is(err, signalcast.ErrAlreadyPredicted) && errors.As(err, &refused):
		fmt.Println("a call on this market is already filed:", refused.ID())
	case errors.Is(err, signalcast.ErrPriceMoved) && errors.As(err, &refused):
		fmt.Println("the price moved:", refused.Message)
	case errors.Is(err, signalcast.ErrMarketClosed):
		fmt.Println("too late")
	case err != nil:
		log.Fatal(err)
	default:
		fmt.Println("filed:", filed.ID, "scored at", filed.ScoreBasisBps, filed.Warnings)
	}
}
