package market

import (
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/signalcast/signalcast/pkg/protocol"
)

// maxTitle and maxText are the maximum lengths, in characters, of texts of a venue that are stored.
const (
	maxTitle = 500
	maxText  = 20_000
)

// cleanRecords prepares records of venues for storage. It returns the newest record for each market, ordered by id, and omits
// records with an invalid id or without a time. It cleans texts, assigns lanes, and converts venue states to stored states.
func cleanRecords(records []Record, classify Classify) []Record {
	newest := make(map[protocol.MarketID]int, len(records))
	for i := range records {
		r := &records[i]
		if _, err := protocol.ParseMarketID(string(r.ID)); err != nil || r.ID.IsNative() || r.FetchedAt.IsZero() {
			continue
		}
		if j, ok := newest[r.ID]; !ok || records[j].FetchedAt.Before(r.FetchedAt) {
			newest[r.ID] = i
		}
	}
	out := make([]Record, 0, len(newest))
	for _, i := range newest {
		r := records[i]
		r.clean(classify)
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b Record) int { return strings.Compare(string(a.ID), string(b.ID)) })
	return out
}

func (r *Record) clean(classify Classify) {
	// A final result is stored as closed and provisional until it is claimed. Whether an open market is provisional
	// depends on its end date alone, which is checked at each read because a venue may still move it.
	switch r.Status {
	case protocol.MarketResolved:
		r.Status, r.Provisional = protocol.MarketClosed, true
	case protocol.MarketOpen:
		r.Provisional, r.Verdict = false, nil
	case protocol.MarketClosed:
		r.Verdict = nil
	default:
		r.Status, r.Verdict = protocol.MarketUnknown, nil
	}
	if r.Verdict != nil {
		if _, known := protocol.ParseVerdict(string(*r.Verdict)); !known {
			r.Verdict = nil
		}
	}
	if r.Verdict == nil {
		r.Payout = nil
	}
	r.FetchedAt = r.FetchedAt.UTC().Truncate(time.Millisecond)
	if r.EndDate != nil && (r.EndDate.Year() < 1 || r.EndDate.Year() > 9999) {
		r.EndDate = nil
	}
	for _, t := range []*string{
		&r.Slug, &r.EventKey, &r.EventTitle, &r.ConditionID, &r.ClobTokenID, &r.ImageURL, &r.URL, &r.Title,
	} {
		*t = cleanText(*t, maxTitle)
	}
	r.Description = cleanText(r.Description, maxText)
	if r.Title == "" {
		r.Title = string(r.ID)
	}
	for i := range r.Outcomes {
		r.Outcomes[i] = cleanText(r.Outcomes[i], maxTitle)
	}
	r.Creator = cleanText(r.Creator, maxTitle)
	if r.VolumeUnit == "" {
		r.VolumeUnit = "usd"
	}
	if r.Yes != nil && !r.Yes.Valid() {
		r.Yes = nil
	}
	if _, known := protocol.ParseLane(string(r.Lane)); !known || r.Lane == protocol.LaneOther {
		r.Guessed = r.Short
		r.Lane = classify.Lane(r.Title, r.Tags)
	}
	r.Category = classify.Category(r.Lane, r.Title, r.Tags)
}

// Clean returns a copy of the quote for storage, with At truncated to milliseconds and not later than now. It returns nil if
// q is nil, a price is outside 1 to 9999, or At is zero.
func (q *Quote) Clean(now time.Time) *Quote {
	if q == nil || q.Yes < 1 || q.Yes > 9999 || q.No < 1 || q.No > 9999 || q.At.IsZero() {
		return nil
	}
	c := *q
	if c.At = q.At.UTC().Truncate(time.Millisecond); c.At.After(now) {
		c.At = now
	}
	return &c
}

// cleanText removes invalid UTF-8 and control characters, except line breaks and tabs, from a text. It truncates the text to
// limit characters. The database cannot store a zero byte, and stored lists use control characters as separators.
func cleanText(s string, limit int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if strings.ContainsFunc(s, isForbidden) {
		s = strings.Map(func(r rune) rune {
			if isForbidden(r) {
				return -1
			}
			return r
		}, s)
	}
	if len(s) > limit {
		n := 0
		for i := range s {
			if n++; n > limit {
				return s[:i]
			}
		}
	}
	return s
}

func isForbidden(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }
