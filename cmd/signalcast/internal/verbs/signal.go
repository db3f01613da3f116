package verbs

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/signalcast/signalcast/cmd/signalcast/internal/show"
	"github.com/signalcast/signalcast/sdk/go/client"
)

// Signal groups the commands of `signalcast signal`, which show calls.
type Signal struct {
	Show signalShow `cmd:"" help:"Show a call, with its result once its market is resolved."`
}

// callID is the id of a call.
type callID uuid.UUID

// UnmarshalText implements encoding.TextUnmarshaler.
func (id *callID) UnmarshalText(raw []byte) error {
	if (*uuid.UUID)(id).UnmarshalText(raw) != nil {
		return errors.New("the id of a call must be a UUID, such as the id that `signalcast call` prints")
	}
	return nil
}

// String returns the id in its standard form.
func (id callID) String() string { return uuid.UUID(id).String() }

type signalShow struct {
	public
	Signal callID `arg:"" help:"Id of the call."`
}

// Run reads and shows the call.
func (c *signalShow) Run(ctx context.Context, at *session) error {
	a, err := at.GetSignal(ctx, uuid.UUID(c.Signal))
	return adviseNotFound(showResponse(at, a, err, func(v *client.Signal) error { return signalPairs(at, v) }), checkCallID)
}

// signalPairs writes the members of a call as names and values.
func signalPairs(s *session, v *client.Signal) error {
	score, confidence, closed := "", "", ""
	basis, counts := "", ""
	if v.ScoreBasisBps > 0 {
		basis = show.Cents(v.ScoreBasisBps) + " cents"
	}
	if v.Counted != nil {
		counts = map[bool]string{true: "yes", false: "no"}[*v.Counted]
	}
	if v.Reason != nil {
		counts += ": " + *v.Reason
	}
	if v.Score != nil {
		score = strconv.Itoa(*v.Score)
	}
	if v.Confidence != nil {
		confidence = strconv.Itoa(*v.Confidence)
	}
	if v.ClosePrice != nil {
		closed = show.Cents(*v.ClosePrice) + " cents of YES"
	}
	pairs := []string{
		"Signal", v.ID.String(), "By", text(v.Callsign), "Market", v.MarketID, "Title", v.MarketTitle,
		"Call", string(v.Direction) + " at " + show.Cents(v.PriceAtPrediction) + " cents", "Scored at", basis,
		"Confidence", confidence, "Take", text(v.TextTake),
		"Filed", when(&v.CreatedAt), "Status", string(v.Status), "Score", score, "Outcome", text(v.Outcome), "Close", closed,
		"Resolved", when(v.ResolvedAt), "Counts in points", counts, "Receipt", receiptURL(s.at, v.ID.String()),
	}
	if v.Status == client.SignalStatusPending && v.PriceVerified && v.Rated {
		pairs = append(pairs, points(v.ScoreBasisBps, v.ConfirmedAt != nil || strings.HasPrefix(v.MarketID, "native-"))...)
	}
	return show.Pairs(s.out, pairs...)
}

// Receipt is the command `signalcast receipt`, which shows a call with its history.
type Receipt struct {
	public
	Signal callID `arg:"" help:"Id of the call."`
}

// receipt is the response of the receipt route: a call with its history and the outcome of its market.
type receipt struct {
	client.Signal
	Events     []client.SignalEvent `json:"events"`
	Resolution *client.Outcome      `json:"resolution"`
}

// Run reads the receipt of the call and shows it.
func (c *Receipt) Run(ctx context.Context, at *session) error {
	if err := at.out.Only("receipt writes several tables", "json", "table"); err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, receiptURL(at.at, c.Signal.String()), nil)
	if err != nil {
		return err
	}
	// Without this header the route returns an HTML page, so the generated client has no method for it.
	r.Header.Set("Accept", "application/json")
	a, err := at.Client.Client.Do(r)
	return adviseNotFound(showResponse(at, a, err, func(v *receipt) error {
		if err := signalPairs(at, &v.Signal); err != nil {
			return err
		}
		if o := v.Resolution; o != nil {
			disputed := ""
			if o.Disputed {
				disputed = text(o.DisputeReason) + " since " + when(o.DisputedAt)
			}
			err := show.Pairs(at.out, "Claimed", text(o.Outcome), "By", text(o.Resolver), "Source", text(o.Source),
				"Proof", text(o.ProofURL), "Disputed", disputed)
			if err != nil {
				return err
			}
		}
		return eventTable(at, v.Events)
	}), "Check the id: it is in the output of `signalcast call`")
}
