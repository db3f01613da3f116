package verbs

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/signalcast/signalcast/cmd/signalcast/internal/settings"
	"github.com/signalcast/signalcast/cmd/signalcast/internal/show"
	"github.com/signalcast/signalcast/sdk/go/client"
)

type marketSearch struct {
	settings.Flags
	Paging
	Words  []string `arg:"" optional:"" help:"Words that the name must contain."`
	Lane   *string  `help:"Only this lane, such as SCIENCE." enum:"${lanes}" placeholder:"LANE"`
	Closed bool     `help:"List closed and resolved markets of the primary venue instead of open ones."`
	Sort   string   `help:"Order: volume, volume24h or endDate; of all venues volume, closes, newest, calls or move." enum:"volume,volume24h,endDate,closes,newest,calls,move" default:"volume"`

	Venue        *string    `help:"List the markets of this venue, or of all venues." enum:"all,polymarket,kalshi,limitless,manifold,native" placeholder:"VENUE"`
	Status       *string    `help:"List markets of all venues with this status: open, closed, resolved or all. Default: open." enum:"open,closed,resolved,all" placeholder:"STATUS"`
	MinVolume    *float32   `help:"List markets of all venues with at least this volume in USD." placeholder:"USD"`
	ClosesAfter  *time.Time `help:"List markets of all venues that close after this time." placeholder:"TIME"`
	ClosesBefore *time.Time `help:"List markets of all venues that close before this time." placeholder:"TIME"`
}

// Run lists the markets that match the words and the flags of the command. A flag that the list of the primary venue does not
// have selects the list of all venues.
func (m *marketSearch) Run(ctx context.Context, s *Streams) error {
	if err := m.check(); err != nil {
		return err
	}
	at, err := openPublic(&m.Flags, s)
	if err != nil {
		return err
	}
	primary := m.Venue == nil && m.Status == nil && m.MinVolume == nil && m.ClosesAfter == nil && m.ClosesBefore == nil
	switch m.Sort {
	case "volume24h", "endDate":
		if !primary {
			return errors.New("--sort must be volume, closes, newest, calls or move in the list of all venues")
		}
	case "closes", "newest", "calls", "move":
		primary = false
	}
	if primary {
		return m.primaryVenue(ctx, at)
	}
	if m.Closed {
		return errors.New("--closed lists the primary venue; for all venues use --status closed or --status resolved")
	}
	if m.MinVolume != nil && *m.MinVolume < 0 {
		return errors.New("--min-volume must not be negative")
	}
	return m.allVenues(ctx, at)
}

// noMarket is shown if no market matches.
const noMarket = "No market matches. Use fewer words, "

// primaryVenue lists markets of the primary venue.
func (m *marketSearch) primaryVenue(ctx context.Context, at *session) error {
	closed := strconv.FormatBool(m.Closed)
	raw, err := m.read(func(cursor *string) (*http.Response, error) {
		return at.FindMarkets(ctx, &client.FindMarketsParams{
			Q: optional(strings.Join(m.Words, " ")), Lane: m.Lane, Closed: &closed, Sort: &m.Sort, Limit: &m.Limit, Cursor: cursor,
		})
	})
	return showBody(at, raw, err, func(l *client.MarketRows) error {
		const none, head = noMarket + "--closed, or --venue all.", "ID,YES,ENDS,LANE,NAME"
		err := show.Table(at.out, none, head, l.Markets, func(r client.MarketRow) []string {
			yes := ""
			if r.YesPct != nil {
				yes = strconv.FormatFloat(float64(*r.YesPct), 'f', -1, 32)
			}
			return []string{r.ID, yes, when(r.ClosesAt), string(r.Lane), r.Name}
		})
		if err != nil {
			return err
		}
		return at.showNext(l.NextCursor)
	})
}

// manual is the provider of native markets in the protocol.
const manual = "manual"

// allVenues lists markets of all venues, or of the venue in Venue.
func (m *marketSearch) allVenues(ctx context.Context, at *session) error {
	provider, status := m.Venue, m.Status
	switch text(m.Venue) {
	case "all":
		provider = nil
	case "native":
		provider = optional(manual)
	}
	switch text(m.Status) {
	case "":
		status = optional("open")
	case "all":
		status = nil
	}
	raw, err := m.read(func(cursor *string) (*http.Response, error) {
		return at.ListMarkets(ctx, &client.ListMarketsParams{
			Q: optional(strings.Join(m.Words, " ")), Provider: provider, Lane: m.Lane, Status: status, ClosesAfter: m.ClosesAfter,
			ClosesBefore: m.ClosesBefore, MinVolumeUsd: m.MinVolume, Sort: &m.Sort, Limit: &m.Limit, Cursor: cursor,
		})
	})
	return showBody(at, raw, err, func(l *client.MarketList) error {
		const none, head = noMarket + "or --status all.", "ID,YES,ENDS,STATUS,VENUE,LANE,CALLS,NAME"
		err := show.Table(at.out, none, head, l.Markets, func(r client.ListedMarket) []string {
			yes, name := "", r.Title
			if r.YesBps != nil {
				yes = show.Cents(*r.YesBps)
			}
			if r.Sides.Yes != "" && r.Sides.Yes != "Yes" {
				name += " (YES: " + r.Sides.Yes + ")"
			}
			venue := string(r.Provider)
			if venue == manual {
				venue = "native"
			}
			return []string{
				r.ID, yes, when(r.ClosesAt), string(r.Status), venue, string(r.Lane), strconv.Itoa(r.Calls), name,
			}
		})
		if err != nil {
			return err
		}
		return at.showNext(l.NextCursor)
	})
}
