package reads

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/signalcast/signalcast/pkg/httpx"
	exportv1 "github.com/signalcast/signalcast/proto/export/v1"
)

// csvColumns is the header row of a record as CSV. A column contains the call member of the same name, or the member to which
// csvMembers maps the column.
var csvColumns = withNewMembers([]string{
	"type", "n", "id", "marketId", "marketTitle", "lane", "direction", "priceAtPrediction", "filingBasisBps", "scoreBasisBps",
	"priceVerified", "rated", "counted", "reason", "ownMarket", "marketYesAtSignal", "initialYesBps", "closesAtSignal",
	"quoteAt", "quoteYesPriceBps", "quoteNoPriceBps", "quoteRule", "quoteSha256",
	"confirmedAt", "secondYesPriceBps", "secondNoPriceBps", "secondRule", "secondSha256", "crowdYesAtSignal", "confidence",
	"textTake", "source", "timeToResolution", "createdAt",
	"status", "score", "outcome", "closePrice", "clvBps", "resolvedAt", "scoringVersion", "scoringVertical", "moment",
	"resolution", "resolver", "resolutionSource", "proofUrl", "closeAt", "marketResolvedAt", "disputed", "resolutionRated",
	"decidedAt", "scoring", "events",
})

// csvMembers maps column names to members of nested objects of a call.
var csvMembers = map[string]string{
	"quoteYesPriceBps": "quote.yesPriceBps", "quoteNoPriceBps": "quote.noPriceBps", "quoteRule": "quote.rule",
	"quoteSha256": "quote.sha256", "secondYesPriceBps": "secondQuote.yesPriceBps",
	"secondNoPriceBps": "secondQuote.noPriceBps", "secondRule": "secondQuote.rule", "secondSha256": "secondQuote.sha256",
	"resolution": "resolution.outcome", "resolver": "resolution.resolver", "resolutionSource": "resolution.source",
	"proofUrl": "resolution.proofUrl", "closeAt": "resolution.closeAt", "marketResolvedAt": "resolution.resolvedAt",
	"disputed": "resolution.disputed", "resolutionRated": "resolution.rated", "decidedAt": "resolution.decidedAt",
}

// withNewMembers adds a column to columns for each call member that has no column and is not an object. The new columns are
// sorted by name and precede the last column.
func withNewMembers(columns []string) []string {
	call, err := csvCells(recordCallJSON{})
	if err != nil {
		panic(err)
	}
	for _, name := range slices.Sorted(maps.Keys(call)) {
		if !slices.Contains(columns, name) {
			columns = slices.Insert(columns, len(columns)-1, name)
		}
	}
	return columns
}

// csvObjects are the call members that are objects or null.
var csvObjects = []string{"quote", "secondQuote", "resolution"}

// csvCells returns the cell texts of a call by member name. A member of a nested object has the name object.member.
func csvCells(call recordCallJSON) (map[string]string, error) {
	text, err := httpx.Marshal(call)
	if err != nil {
		return nil, err
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil {
		return nil, err
	}
	cells := make(map[string]string, 2*len(members))
	for name, value := range members {
		if !slices.Contains(csvObjects, name) {
			cells[name] = cell(value)
			continue
		}
		var object map[string]json.RawMessage
		if err := json.Unmarshal(value, &object); err != nil {
			return nil, err
		}
		for member, value := range object {
			cells[name+"."+member] = cell(value)
		}
	}
	return cells, nil
}

// csvRecord formats a record as CSV. Each call is a row with its events as JSON in the last cell. The last row has the type "end"
// and the numbers of calls and events in the columns "n" and "events". A file without this row is incomplete.
type csvRecord struct{ calls, events int64 }

func (t *csvRecord) head(b *bytes.Buffer, _ *exportv1.RecordHead) error { return csvRow(b, csvColumns) }

func (t *csvRecord) call(b *bytes.Buffer, c *exportv1.Call) error {
	t.calls++
	t.events += int64(len(c.GetEvents()))
	cells, err := csvCells(showCall(t.calls, c))
	if err != nil {
		return err
	}
	row := make([]string, len(csvColumns))
	for i, name := range csvColumns {
		row[i] = cells[cmp.Or(csvMembers[name], name)]
	}
	return csvRow(b, row)
}

func (t *csvRecord) end(b *bytes.Buffer, _ *exportv1.RecordEnd) error {
	row := make([]string, len(csvColumns))
	row[0], row[1], row[len(row)-1] = "end", strconv.FormatInt(t.calls, 10), strconv.FormatInt(t.events, 10)
	return csvRow(b, row)
}

func csvRow(b *bytes.Buffer, row []string) error {
	w := csv.NewWriter(b)
	w.UseCRLF = true // line ends of RFC 4180
	if err := w.Write(row); err != nil {
		return err
	}
	w.Flush()
	return w.Error()
}

// cell returns the text of a JSON value: empty for null, and JSON for arrays and objects. A text that a spreadsheet would run as
// a formula is prefixed with a quote (OWASP, CSV injection). Spaces at the start of the text do not matter for this check,
// because some spreadsheets ignore them.
func cell(value json.RawMessage) string {
	var s string
	if json.Unmarshal(value, &s) != nil {
		return string(value)
	}
	first := strings.TrimLeft(s, " \u00a0\ufeff")
	if first != "" && (strings.ContainsAny(s[:1], "\t\r\n") || strings.ContainsRune("=+-@|%＝＋－＠", []rune(first)[0])) {
		return "'" + s
	}
	return s
}
