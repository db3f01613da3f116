package verbs

import (
	"context"
	"net/http"
	"strconv"

	"github.com/signalcast/signalcast/cmd/signalcast/internal/settings"
	"github.com/signalcast/signalcast/cmd/signalcast/internal/show"
	"github.com/signalcast/signalcast/sdk/go/client"
)

// Calls groups the commands of `signalcast calls`.
type Calls struct {
	List callsList `cmd:"" help:"List your calls, newest first, or the calls of another operator."`
}

type callsList struct {
	settings.Flags
	Paging
	Status *string `help:"Only calls with this status: pending, won, lost or void." enum:"pending,won,lost,void" placeholder:"STATUS"`
	Handle string  `help:"List the public calls of this operator. No key is sent."`
}

// Run reads the calls from the api and shows them.
func (c *callsList) Run(ctx context.Context, s *Streams) error {
	if err := c.check(); err != nil {
		return err
	}
	get, at, err := c.source(ctx, s)
	if err != nil {
		return err
	}
	raw, err := c.read(get)
	return showBody(at, raw, err, func(l *client.SignalList) error {
		const none, head = "No calls.", "FILED,STATUS,SIDE,PRICE,SCORE,MARKET,ID,TITLE"
		err := show.Table(at.out, none, head, l.Signals, func(v client.ListedSignal) []string {
			score := ""
			if v.Score != nil {
				score = strconv.Itoa(*v.Score)
			}
			return []string{
				when(&v.CreatedAt), string(v.Status), string(v.Direction), show.Cents(v.PriceAtPrediction), score,
				v.MarketID, v.ID.String(), v.MarketTitle,
			}
		})
		if err != nil {
			return err
		}
		return at.showNext(l.NextCursor)
	})
}

// source returns a session at the api, and a function that requests a page: of the public list with --handle, otherwise of the
// list of the owner of the key.
func (c *callsList) source(ctx context.Context, s *Streams) (func(*string) (*http.Response, error), *session, error) {
	if c.Handle != "" {
		address, err := c.APIAddress()
		if err != nil {
			return nil, nil, err
		}
		at, err := open(s, address, "")
		return func(cursor *string) (*http.Response, error) {
			return at.ListSignals(ctx, &client.ListSignalsParams{
				Handle: &c.Handle, Status: c.Status, Limit: &c.Limit, Cursor: cursor,
			})
		}, at, err
	}
	at, err := openAPI(&c.Flags, s)
	if err != nil {
		return nil, nil, err
	}
	me, err := decoded[client.UserMe](at.GetUserMe(ctx))
	return func(cursor *string) (*http.Response, error) {
		return at.ListUserSignals(ctx, me.Handle, &client.ListUserSignalsParams{Status: c.Status, Limit: &c.Limit, Cursor: cursor})
	}, at, err
}
