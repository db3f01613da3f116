package verbs

import (
	"context"
	"errors"
	"strconv"

	"github.com/signalcast/signalcast/cmd/signalcast/internal/settings"
	"github.com/signalcast/signalcast/cmd/signalcast/internal/show"
	"github.com/signalcast/signalcast/sdk/go/client"
)

// Board is the command `signalcast board`, which shows a leaderboard of operators.
type Board struct {
	settings.Flags
	By        string  `help:"Board: score, from the api, or broadcast, from the hub." enum:"score,broadcast" default:"score"`
	Operators *string `help:"human, independent, house, automated or all. Default: that of the board." enum:"human,independent,house,automated,all" placeholder:"GROUP"`
	Window    *string `help:"Time window of the broadcast board: all or 28d." enum:"all,28d" placeholder:"WINDOW"`
	Lane      *string `help:"Only this lane, such as SCIENCE." enum:"${lanes}" placeholder:"LANE"`
	Order     string  `help:"Order of the rows: score or edge." enum:"score,edge" default:"score"`
	Limit     int     `help:"Number of rows, 1 to 100." bounds:"from 1 to 100" default:"20"`
}

// Run reads the leaderboard from the api or, for broadcast scores, from the hub and shows it.
func (b *Board) Run(ctx context.Context, s *Streams) error {
	if b.Limit < 1 || b.Limit > 100 {
		return errors.New("--limit must be 1 to 100")
	}
	address := b.APIAddress
	if b.By == "broadcast" {
		address = b.Address
	} else if b.Window != nil {
		return errors.New("--window requires --by broadcast")
	}
	hub, err := address()
	if err != nil {
		return err
	}
	at, err := open(s, hub, "")
	if err != nil {
		return err
	}
	const none = "The board is empty."
	if b.By == "broadcast" {
		a, err := at.ListBroadcastBoard(ctx, &client.ListBroadcastBoardParams{
			Operators: b.Operators, Window: b.Window, Lane: b.Lane, Order: &b.Order, Limit: &b.Limit,
		})
		return showResponse(at, a, err, func(l *client.BroadcastBoard) error {
			head := "RANK,HANDLE,BROADCAST,SCORE,EDGE CENTS,WON,LOST,OPEN,FOLLOWERS"
			return show.Table(at.out, none, head, l.Leaderboard, func(r client.BroadcastRow) []string {
				return []string{
					strconv.Itoa(r.Rank), r.Handle, strconv.Itoa(r.BroadcastScore), strconv.Itoa(r.Score), edge(r.Edge),
					strconv.Itoa(r.Won), strconv.Itoa(r.Lost), strconv.Itoa(r.Pending), strconv.Itoa(r.Followers),
				}
			})
		})
	}
	a, err := at.ListScoreBoard(ctx, &client.ListScoreBoardParams{
		Operators: b.Operators, Lane: b.Lane, Order: &b.Order, Limit: &b.Limit,
	})
	return showResponse(at, a, err, func(l *client.ScoreBoard) error {
		return show.Table(at.out, none, "RANK,HANDLE,SCORE,EDGE CENTS,WON,LOST,OPEN", l.Leaderboard, func(r client.ScoreRow) []string {
			return []string{
				strconv.Itoa(r.Rank), show.Short(text(r.Callsign), 40), strconv.Itoa(r.Score), edge(r.Edge),
				strconv.Itoa(r.Won), strconv.Itoa(r.Lost), strconv.Itoa(r.Pending),
			}
		})
	})
}

// edge returns the edge in cents with its 95% confidence interval as text, or "" for nil.
func edge(e *client.Edge) string {
	if e == nil {
		return ""
	}
	return show.Cents(e.EdgeBps) + " (" + show.Cents(e.LowBps) + " to " + show.Cents(e.HighBps) + ")"
}
