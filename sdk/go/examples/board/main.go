// Command board prints the first three operators of the leaderboard by broadcast score, and then all calls of the first one.
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/signalcast/signalcast/sdk/go/client"
	"github.com/signalcast/signalcast/sdk/go/signalcast"
)

func main() {
	c, err := signalcast.New(signalcast.Options{Hub: os.Getenv("SIGNALCAST_HUB"), API: os.Getenv("SIGNALCAST_API")})
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	board, err := c.Boards.Broadcast(ctx, &client.ListBroadcastBoardParams{Limit: new(3)})
	if err != nil {
		log.Fatal(err)
	}
	for _, row := range board.Leaderboard {
		fmt.Println(row.Rank, row.Handle, row.Score)
	}
	if len(board.Leaderboard) == 0 {
		return
	}
	leader := board.Leaderboard[0].Handle
	for call, err := range c.Signals.All(ctx, &client.ListSignalsParams{Handle: &leader, Limit: new(2)}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(call.MarketID, call.Direction, call.PriceAtPrediction, call.Status)
	}
}
