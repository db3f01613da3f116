package manifold

import (
	"encoding/json"
	"errors"
	"math"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/venue"
	"github.com/signalcast/signalcast/services/api/internal/venue/loosejson"
)

// object is the JSON record of a market. Lists contain a short form without description and topics.
type object struct {
	ID                    loosejson.Text    `json:"id"`
	Creator               loosejson.Text    `json:"creatorId"`
	Question              loosejson.Text    `json:"question"`
	Slug                  loosejson.Text    `json:"slug"`
	URL                   loosejson.Text    `json:"url"`
	Kind                  loosejson.Text    `json:"outcomeType"`
	Mechanism             loosejson.Text    `json:"mechanism"`
	Probability           loosejson.Decimal `json:"probability"` // keeps its last value after the end of trading
	Resolved              *bool             `json:"isResolved"`
	Resolution            loosejson.Text    `json:"resolution"`
	ResolutionProbability loosejson.Decimal `json:"resolutionProbability"`
	ResolutionTime        loosejson.Decimal `json:"resolutionTime"`
	CreatedTime           loosejson.Decimal `json:"createdTime"`
	CloseTime             loosejson.Decimal `json:"closeTime"`
	Volume                loosejson.Decimal `json:"volume"`
	Volume24h             loosejson.Decimal `json:"volume24Hours"`
	Liquidity             loosejson.Decimal `json:"totalLiquidity"`
	Token                 loosejson.Text    `json:"token"`
	Description           *loosejson.Text   `json:"textDescription"`
	Topics                []loosejson.Text  `json:"groupSlugs"`
}

var errRecord = errors.New("the record has no valid id, no question, no outcomeType or no isResolved")

// decode parses the record of a market of any kind. It returns errRecord if the id is invalid, or if the question, the kind
// or isResolved is missing.
func decode(raw json.RawMessage) (object, error) {
	var o object
	if err := json.Unmarshal(raw, &o); err != nil {
		return o, err
	}
	if _, err := protocol.NewMarketID(protocol.Manifold, string(o.ID)); err != nil || strings.TrimSpace(string(o.Question)) == "" ||
		o.Kind == "" || o.Resolved == nil {
		return o, errRecord
	}
	return o, nil
}

// key returns the contract id of a market id. Its case is significant. ok is false for an id of another venue.
func key(id protocol.MarketID) (contract string, ok bool) {
	return venue.NativeKey(protocol.Manifold, id)
}

// kinds contains the kinds of markets of the venue. The value is true if a market of that kind has the outcomes YES and NO,
// which a call needs.
var kinds = map[string]bool{
	"BINARY": true, "MULTIPLE_CHOICE": false, "PSEUDO_NUMERIC": false, "STONK": false, "BOUNTIED_QUESTION": false, "POLL": false,
	"NUMBER": false, "MULTI_NUMERIC": false, "DATE": false, "PERP": false,
}

// unusable returns "not_binary" if the kind of the market does not have the outcomes YES and NO, or if its mechanism is not
// "cpmm-1". It returns "" for other markets. It checks the kind, because numeric markets also have a probability.
func (a *Adapter) unusable(o *object) string {
	kind, mechanism := string(o.Kind), string(o.Mechanism)
	two, known := kinds[kind]
	if !known {
		a.client.UnknownWord("outcomeType", kind)
	}
	if two && mechanism != "cpmm-1" {
		a.client.UnknownWord("mechanism", mechanism)
	}
	if !two || mechanism != "cpmm-1" {
		return "not_binary"
	}
	return ""
}

// Bounds of the times that JSON and the database can represent, in Unix milliseconds. earliest is the first such time, and
// latest is the first later time that they cannot represent.
var (
	earliest = float64(time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli())
	latest   = float64(time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli())
)

// moment parses a time in Unix milliseconds. If JSON and the database cannot represent it, at is zero, and sign is -1 for a
// time that is too early and 1 for one that is too late. ok is false if the text is not a number.
func moment(d loosejson.Decimal) (at time.Time, sign int, ok bool) {
	ms, err := strconv.ParseFloat(string(d), 64)
	switch {
	case err != nil && !math.IsInf(ms, 0) || math.IsNaN(ms):
		return time.Time{}, 0, false
	case ms < earliest:
		return time.Time{}, -1, true
	case ms >= latest:
		return time.Time{}, 1, true
	}
	return time.UnixMilli(int64(ms)).UTC(), 0, true
}

// page returns the public address of the market, or "" if the record contains no address on the venue's website.
func (o *object) page() string {
	u, err := url.Parse(string(o.URL))
	if err != nil || u.Scheme != "https" || u.Host != "manifold.markets" || u.User != nil || len(o.URL) > loosejson.MaxTitle {
		return ""
	}
	return u.String()
}

// details contains the members of a market that only its full record has.
type details struct {
	description string
	topics      []string
}

// details returns the details in a full record. ok is false for a short record.
func (o *object) details() (d details, ok bool) {
	if o.Description == nil && o.Topics == nil {
		return d, false
	}
	if o.Description != nil {
		d.description = loosejson.Plain(string(*o.Description), loosejson.MaxDescription)
	}
	for _, t := range o.Topics {
		word := strings.TrimSuffix(loosejson.Plain(string(t), loosejson.MaxWord), "-default")
		if word != "" && len(d.topics) < loosejson.MaxTags {
			d.topics = append(d.topics, word)
		}
	}
	return d, true
}
