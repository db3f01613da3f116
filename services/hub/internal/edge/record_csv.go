package edge

import (
	"bytes"
	"encoding/csv"
	"strconv"
	"strings"

	"github.com/signalcast/signalcast/pkg/web"
	"github.com/signalcast/signalcast/services/hub/internal/export"
)

// csvColumns is the first row of a record as a table.
var csvColumns = []string{
	"type", "n", "id", "marketId", "marketTitle", "lane", "direction", "priceAtPrediction", "basisBps", "priceVerified",
	"snapshotYesBps", "snapshotAt", "crowdYesAtSignal", "confidence", "textTake", "source", "timeToResolution", "createdAt",
	"status", "score", "outcome", "closePrice", "clvBps", "resolvedAt", "scoringVersion", "scoringVertical", "moment",
	"resolution", "resolver", "resolutionSource", "proofUrl", "closeAt", "marketResolvedAt", "disputed", "scoring", "events",
}

// csvRecord writes a record as a table for spreadsheets: a row for each call, its
// events as JSON in the last cell. The last row is of type end and has the counts of
// calls and events in n and events; without it the table is not whole.
type csvRecord struct{ calls, events int64 }

func (t *csvRecord) head(b *bytes.Buffer, _ export.Owner) error { return csvRow(b, csvColumns) }

func (t *csvRecord) call(b *bytes.Buffer, c *export.Call) error {
	t.calls++
	t.events += int64(len(c.Events))
	s := showCall(t.calls, c)
	events, err := web.Marshal(s.Events)
	if err != nil {
		return err
	}
	var snap snapshotJSON
	var yes *int32
	if s.Snapshot != nil {
		snap, yes = *s.Snapshot, &s.Snapshot.YesBps
	}
	var r provenanceJSON
	disputed := ""
	if s.Resolution != nil {
		r, disputed = *s.Resolution, strconv.FormatBool(s.Resolution.Disputed)
	}
	return csvRow(b, []string{
		s.Type, strconv.FormatInt(s.N, 10), s.ID, cell(s.MarketID), cell(s.MarketTitle), s.Lane, s.Direction,
		strconv.Itoa(s.PriceAtPrediction), strconv.Itoa(s.BasisBps), strconv.FormatBool(s.PriceVerified),
		number(yes), snap.At, number(s.CrowdYesAtSignal), number(s.Confidence), cell(text(s.TextTake)), cell(text(s.Source)),
		number(s.TimeToResolution), s.CreatedAt, s.Status, number(s.Score), text(s.Outcome), number(s.ClosePrice), number(s.ClvBps),
		text(s.ResolvedAt), text(s.ScoringVersion), text(s.ScoringVertical), text(s.Moment), r.Outcome, r.Resolver,
		cell(text(r.Source)), cell(text(r.ProofURL)), r.CloseAt, r.ResolvedAt, disputed,
		strconv.FormatBool(s.Scoring), strings.TrimSpace(string(events)),
	})
}

func (t *csvRecord) end(b *bytes.Buffer, _ export.End) error {
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

func number(n *int32) string {
	if n == nil {
		return ""
	}
	return strconv.Itoa(int(*n))
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
