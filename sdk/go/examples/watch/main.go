// Command watch reads the feed of a market until a call is filed on the market. Usage: watch MARKET.
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/signalcast/signalcast/sdk/go/feed"
	"github.com/signalcast/signalcast/sdk/go/signalcast"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: watch MARKET")
	}
	c, err := signalcast.New(signalcast.Options{API: os.Getenv("SIGNALCAST_API")})
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	live, err := c.Live.Feed(ctx, feed.Options{Channels: []string{"market:" + os.Args[1]}})
	if err != nil {
		log.Fatal(err)
	}
	defer live.Close()
	for m, err := range live.Messages(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		switch m := m.(type) {
		case *feed.Snapshot:
			fmt.Println("watching", m.Channel)
		case *feed.Event:
			if m.Type == "signal.created" {
				fmt.Println(m.Seq, m.Type, string(m.Data))
				return
			}
		}
	}
}
