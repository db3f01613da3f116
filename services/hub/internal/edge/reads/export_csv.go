package reads

import (
	"bytes"
	"encoding/csv"
	"strconv"
	"strings"

	"github.com/signalcast/signalcast/pkg/web"
	exportv1 "github.com/signalcast/signalcast/proto/export/v1"
)

// csvColumns is the first row of a record as a table.
var csvColumns = []string{
	"type", "n", "id", "marketId", "marketTitle", "lane", "direction", "priceAtPrediction", "filingBasisBps", "scoreBasisBps",
	"priceVerified", "rated", "counted", "reason", "ownMarket", "marketYesAtSignal", "initialYesBps", "closesAtSignal",
	"quoteAt", "quoteYesPriceBps", "quoteNoPriceBps", "quoteRule", "quoteSha256",
	"confirmedAt", "secondYesPriceBps", "secondNoPriceBps", "secondRule", "secondSha256", "crowdYesAtSignal", "confidence",
	"textTake", "source", "timeToResolution", "createdAt",
	"status", "score", "outcome", "closePrice", "clvBps", "resolvedAt", "scoringVersion", "scoringVertical", "moment",
	"resolution", "resolver", "resolutionSource", "proofUrl", "closeAt", "marketResolvedAt", "disputed", "resolutionRated",
	"decidedAt", "scoring", "events",
}

// csvRecord writes a record as a table for spreadsheets: a row for each call, its
// events as JSON in the last cell. The last row is of type end and has the counts of
// calls and events in n and events; without it the table is not whole.
type csvRecord struct{ calls, events int64 }

func (t *csvRecord) head(b *bytes.Buffer, _ *exportv1.RecordHead) error { return csvRow(b, csvColumns) }

func (t *csvRecord) call(b *bytes.Buffer, c *exportv1.Call) error {
	t.calls++
	t.events += int64(len(c.GetEvents()))
	s := showCall(t.calls, c)
	events, err := web.Marshal(s.Events)
	if err != nil {
		return err
	}
	var r provenanceJSON
	disputed, rated, counted := "", "", ""
	if s.Resolution != nil {
		r, disputed, rated = *s.Resolution, strconv.FormatBool(s.Resolution.Disputed), strconv.FormatBool(s.Resolution.Rated)
	}
	if s.Counted != nil {
		counted = strconv.FormatBool(*s.Counted)
	}
	row := []string{
		s.Type, strconv.FormatInt(s.N, 10), s.ID, cell(s.MarketID), cell(s.MarketTitle), s.Lane, s.Direction,
		number(&s.PriceAtPrediction), number(&s.FilingBasisBps), number(&s.ScoreBasisBps),
		strconv.FormatBool(s.PriceVerified), strconv.FormatBool(s.Rated), counted, text(s.Reason),
		strconv.FormatBool(s.OwnMarket),
		number(s.MarketYesAtSignal), number(s.InitialYesBps), text(s.ClosesAtSignal), text(s.QuoteAt),
	}
	row = append(append(row, quoteCells(s.Quote)...), text(s.ConfirmedAt))
	row = append(append(row, quoteCells(s.SecondQuote)...),
		number(s.CrowdYesAtSignal), number(s.Confidence), cell(text(s.TextTake)), cell(text(s.Source)),
		number(s.TimeToResolution), s.CreatedAt, s.Status, number(s.Score), text(s.Outcome), number(s.ClosePrice),
		number(s.ClvBps),
		text(s.ResolvedAt), text(s.ScoringVersion), text(s.ScoringVertical), text(s.Moment), r.Outcome, r.Resolver,
		cell(text(r.Source)), cell(text(r.ProofURL)), r.CloseAt, r.ResolvedAt, disputed, rated, text(r.DecidedAt),
		strconv.FormatBool(s.Scoring), strings.TrimSpace(string(events)))
	return csvRow(b, row)
}

// quoteCells are the prices, the rule and the digest of a quote, empty without one.
func quoteCells(q *quoteJSON) []string {
	if q == nil {
		return make([]string, 4)
	}
	return []string{number(&q.YesPriceBps), number(&q.NoPriceBps), cell(q.Rule), text(q.SHA256)}
}

func (t *csvRecord) end(b *bytes.Buffer, _ *exportv1.RecordEnd) error {
	row := make([]string, len(csvColumns))
	row[0], row[1], row[len(row)-1] = "end", strconv.FormatInt(t.calls, 10), strconv.FormatInt(t.events, 10)
	return csvRow(b, row)
}

func csvRow(b *bytes.Buffer, row []string) error {
	w := csv.NewWriter(b)
	w.UseCRLF = true // RFC 4180
	if err := w.Write(row); err != nil {
		return err
	}
	w.Flush()
	return w.Error()
}

// cell keeps what somebody wrote a text: a spreadsheet takes cells that begin with one
// of these for formulas, and a quote in front makes them words (OWASP, CSV injection).
// Spaces in front are passed over, as some programs do.
func cell(s string) string {
	if strings.HasPrefix(s, "\t") || strings.HasPrefix(s, "\r") || strings.HasPrefix(s, "\n") {
		return "'" + s
	}
	switch first := strings.TrimLeft(s, " \u00a0\ufeff"); {
	case first == "":
		return s
	case strings.ContainsRune("=+-@|%＝＋－＠", []rune(first)[0]):
		return "'" + s
	}
	return s
}

func number[T int32 | int64](n *T) string {
	if n == nil {
		return ""
	}
	return strconv.FormatInt(int64(*n), 10)
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
