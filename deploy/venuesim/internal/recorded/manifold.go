package recorded

import (
	"encoding/json"
	"strings"

	"github.com/signalcast/signalcast/deploy/venuesim/internal/world"
)

type manifoldMarket struct {
	ID          string      `json:"id"`
	Question    string      `json:"question"`
	Slug        string      `json:"slug"`
	Kind        string      `json:"outcomeType"`
	Mechanism   string      `json:"mechanism"`
	Created     json.Number `json:"createdTime"`
	Close       json.Number `json:"closeTime"`
	Resolved    bool        `json:"isResolved"`
	Resolution  string      `json:"resolution"`
	ResolvedAt  json.Number `json:"resolutionTime"`
	Share       json.Number `json:"resolutionProbability"`
	Probability json.Number `json:"probability"`
	Volume      json.Number `json:"volume"`
	Volume24h   json.Number `json:"volume24Hours"`
	Liquidity   json.Number `json:"totalLiquidity"`
	Text        string      `json:"textDescription"`
	Topics      []string    `json:"groupSlugs"`
}

func takeManifold(w *Wire, raw []byte) bool {
	if len(raw) == 0 || raw[0] != '[' {
		return addManifold(w, raw)
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return false
	}
	taken := false
	for _, r := range list {
		taken = addManifold(w, r) || taken
	}
	return taken
}

func addManifold(w *Wire, raw json.RawMessage) bool {
	var o manifoldMarket
	if json.Unmarshal(raw, &o) != nil || o.ID == "" || o.Kind == "" || o.Question == "" {
		return false
	}
	m := world.Market{
		Key: o.ID, Slug: o.Slug, Question: o.Question, Description: o.Text, Kind: o.Kind, State: world.Open, Start: millis(o.Created), End: millis(o.Close),
		Price: micros(string(o.Probability)), Volume: amount(string(o.Volume)), Volume24h: amount(string(o.Volume24h)),
		Liquidity: amount(string(o.Liquidity)), Raw: raw,
	}
	for _, t := range o.Topics {
		slug := strings.TrimSuffix(t, "-default")
		m.Tags = append(m.Tags, world.Tag{Label: slug, Slug: slug})
	}
	if o.Resolved {
		m.State, m.ChangedAt = world.Resolved, millis(o.ResolvedAt)
		switch o.Resolution {
		case "YES":
			m.Verdict = world.Yes
		case "NO":
			m.Verdict = world.No
		default:
			m.Verdict, m.Form = world.Invalid, o.Resolution
			if o.Share != "" {
				share := micros(string(o.Share))
				m.Payout = &share
			}
		}
	}
	w.add(m, world.Event{ID: o.ID, Slug: o.ID, Title: o.Question})
	return true
}
