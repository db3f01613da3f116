package adminapi

import (
	"context"
	"fmt"
	"strings"
	"unicode"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/ledgerclient"
	"github.com/signalcast/signalcast/pkg/protocol"
	digestv1 "github.com/signalcast/signalcast/proto/digest/v1"
	marketv1 "github.com/signalcast/signalcast/proto/market/v1"
	"github.com/signalcast/signalcast/proto/openapi"
	wirev1 "github.com/signalcast/signalcast/proto/wire/v1"
	"github.com/signalcast/signalcast/services/hub/internal/digest"
	"github.com/signalcast/signalcast/services/hub/internal/grant"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/request"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/view"
)

// Limits of the digest: the number of price moves, and the number of markets that end soon.
const (
	digestMovers    = 5
	digestResolving = 10
)

// DailyDigest handles POST /api/admin/daily-digest. It sends the mail about the previous day at most once. With ?dry=1, it only
// returns the content. Errors: errDry for an invalid parameter "dry", and the errors of the ledger and the mail service.
func (s *Server) DailyDigest(c echo.Context) error {
	if _, _, err := httpx.DecodeOptional(c, httpx.BodyLimit); err != nil {
		return err
	}
	dry, err := readDry(c.QueryParams()["dry"])
	if err != nil {
		return err
	}
	day := digest.Yesterday(s.Now())
	out := openapi.DigestAnswer{Ok: true, Dry: httpx.OrNull(dry)}
	a := request.AdminAction{Target: day.Date, Detail: map[string]any{"dry": dry}}
	err = s.Audits.Do(c, a, func(ctx context.Context) (err error) {
		if dry {
			out.Payload, err = s.digestOf(ctx, day)
			return err
		}
		sent, already, err := s.Digests.Once(ctx, day.Date, func(ctx context.Context) (digest.Letter, error) {
			var err error
			if out.Payload, err = s.digestOf(ctx, day); err != nil {
				return digest.Letter{}, err
			}
			return s.letter(out.Payload), nil
		})
		out.Sent, out.Already = int64(sent), httpx.OrNull(already)
		return err
	})
	return view.OK(c, out, err)
}

var errDry = grant.ErrInvalidRequest.WithText("dry must be 1 to preview the mail; leave it out or set it to 0 to send "+
	"it").With("field", "dry")

// readDry reports whether the parameter "dry" is 1. It returns errDry for any value other than 0 and 1, so that a misspelled
// value does not send the mail.
func readDry(values []string) (bool, error) {
	switch {
	case len(values) == 0:
		return false, nil
	case len(values) == 1 && (values[0] == "0" || values[0] == "1"):
		return values[0] == "1", nil
	}
	return false, errDry
}

// digestOf reads the statistics of one day. It fails if any part cannot be read, because the mail is sent once and must be
// complete.
func (s *Server) digestOf(ctx context.Context, w digest.Window) (*openapi.Digest, error) {
	day, err := s.Ledger.Days.GetDay(ctx, &digestv1.GetDayRequest{
		From: ledgerclient.Timestamp(w.From), To: ledgerclient.Timestamp(w.To),
	})
	if err != nil {
		return nil, err
	}
	moved, err := view.ListSituations(ctx, s.Ledger.Wire, view.MovementQuery{Window: protocol.Window24h, Limit: digestMovers})
	if err != nil {
		return nil, err
	}
	next, err := s.Ledger.Markets.ListAirable(ctx, &marketv1.ListAirableRequest{Limit: digestResolving})
	if err != nil {
		return nil, err
	}
	pulse := day.GetPulse()
	return &openapi.Digest{
		Date: w.Date, Window: openapi.Digest_Window{From: protocol.Stamp(w.From), To: protocol.Stamp(w.To)},
		Totals: openapi.Digest_Totals{
			Signals: day.GetSignals(), Resolved: day.GetWon() + day.GetLost(), Won: day.GetWon(), Lost: day.GetLost(),
			Void: day.GetVoid(), NewOperators: day.GetNewOperators(),
		},
		TopCalls: view.List(day.GetTopCalls(), func(call *digestv1.TopCall) openapi.Digest_TopCalls {
			return openapi.Digest_TopCalls{
				SignalID: call.GetSignalId(), Handle: call.GetHandle(), MarketTitle: call.GetMarketTitle(),
				Direction: call.GetDirection(), OddsBps: int64(call.GetOddsBps()), Score: int64(call.GetScore()),
				ReceiptURL: view.ReceiptURL(s.HubURL, call.GetSignalId()),
			}
		}),
		Movers: view.List(moved.GetSituations(), func(sit *wirev1.Situation) openapi.Situation {
			return view.ShowSituation(s.HubURL, protocol.Window24h, sit)
		}),
		ResolvingNext: view.ShowAirable(next.GetMarkets(), s.Now()).Markets, Disputed: append([]string{}, day.GetDisputed()...),
		Pulse: openapi.Digest_Pulse{
			Last7: pulse.GetLast7(), Prev7: pulse.GetPrev7(),
			WssAo: digest.WssAo(pulse.GetWeekSignals(), pulse.GetWeekOperators()),
		},
	}, nil
}

// letter returns the plain-text mail with the statistics in d.
func (s *Server) letter(d *openapi.Digest) digest.Letter {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("Signalcast, %s (UTC)\n", d.Date)
	line("Calls filed: %d. Resolved: %d (%d won, %d lost), void: %d. New operators: %d.",
		d.Totals.Signals, d.Totals.Resolved, d.Totals.Won, d.Totals.Lost, d.Totals.Void, d.Totals.NewOperators)
	line("Independent calls in 7 days: %d, before that %d. Calls for each active operator in the last week: %.2f.",
		d.Pulse.Last7, d.Pulse.Prev7, d.Pulse.WssAo)
	section := func(title string, n int) {
		if n > 0 {
			line("\n%s", title)
		}
	}
	section("Best calls", len(d.TopCalls))
	for _, c := range d.TopCalls {
		line("- %s: %s at %.2f%% on %s, %+d. %s",
			c.Handle, c.Direction, float64(c.OddsBps)/100, oneLine(c.MarketTitle), c.Score, c.ReceiptURL)
	}
	section("Biggest moves", len(d.Movers))
	for _, m := range d.Movers {
		line("- %s. %s", oneLine(m.Headline), m.URL)
	}
	section("Ending soon", len(d.ResolvingNext))
	for _, m := range d.ResolvingNext {
		line("- %s, %s. %s%s", oneLine(m.Title), m.EndDate, s.HubURL, m.Route)
	}
	section("Disputed", len(d.Disputed))
	for _, id := range d.Disputed {
		line("- %s", view.MarketURL(s.HubURL, protocol.MarketID(id)))
	}
	return digest.Letter{Date: d.Date, Subject: "Signalcast, " + d.Date, Text: b.String()}
}

// oneLine replaces control characters and line separators with spaces, so that text of users cannot add lines to the mail.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, text)
}
