package manifold

import (
	"cmp"
	"encoding/json"
	"time"

	"github.com/signalcast/signalcast/deploy/venuesim/internal/reply"
	"github.com/signalcast/signalcast/deploy/venuesim/internal/world"
)

const (
	kindBinary = "BINARY"
	kindPoll   = "POLL"
	user       = "inventeduser"
	// farAway is a close time that some creators give, beyond year 9999.
	farAway = int64(4_102_444_800_000_000)
)

func kind(m *world.Market) string {
	switch {
	case m.Kind != "":
		return m.Kind
	case m.Placeholder:
		return kindPoll
	}
	return kindBinary
}

// resolved says whether the creator has named a result. Where others propose,
// this venue's creators name a result at once and may take it back; until they
// do, a market that is over waits.
func resolved(m *world.Market) bool {
	return m.Verdict != "" && (m.State == world.Resolved || m.State == world.Proposed && m.Patched)
}

// closes is when trading ends; ok is false when no end is set.
func closes(m *world.Market) (ms int64, ok bool) {
	if at := m.Ended(); m.State != world.Open && !at.IsZero() && at.Before(m.End) {
		return at.UnixMilli(), true
	}
	if m.State == world.Open && !m.Patched {
		switch {
		case m.Odd("noclose", 60):
			return 0, false
		case m.Odd("farclose", 90):
			return farAway, true
		}
	}
	return m.End.UnixMilli(), !m.End.IsZero() && !m.Placeholder
}

// open says whether bets are taken.
func open(m *world.Market, now time.Time) bool {
	ms, ends := closes(m)
	return m.State == world.Open && (!ends || ms > now.UnixMilli())
}

// created is spread over a second, so that markets born together differ.
func created(m *world.Market) int64 {
	ms := m.Start.UnixMilli()
	if !m.Created() && m.Key == "" {
		ms += m.ID % 997
	}
	return ms
}

func (s *Service) short(m *world.Market) short {
	now := s.world.Now().UnixMilli()
	c := short{
		ID: s.Key(m), CreatorID: cmp.Or(m.Creator, "u1Invented0000000000"), CreatorUsername: user, CreatorName: "Invented User", CreatedTime: created(m),
		CreatorAvatarURL: "https://assets.example.test/a.png", Question: m.YesQuestion(), Slug: m.Slug, URL: "https://manifold.markets/" + user + "/" + m.Slug,
		OutcomeType: kind(m), Mechanism: "none", UniqueBettorCount: 41, LastUpdatedTime: now, LastBetTime: min(now, m.Until(s.world.Now()).UnixMilli()),
		LastCommentTime: created(m), Token: "MANA",
	}
	if ms, ok := closes(m); ok {
		c.CloseTime = &ms
	}
	if c.OutcomeType == kindPoll {
		return c
	}
	p, weight, liquidity := m.Price.Float(), 0.5, m.Liquidity
	c.Mechanism, c.Probability, c.P, c.TotalLiquidity = "cpmm-1", &p, &weight, &liquidity
	c.Volume, c.Volume24Hours = m.Volume, m.Volume24h
	c.Pool = map[string]float64{"YES": 2000 * (1 - p), "NO": 2000 * p}
	if resolved(m) {
		result(&c, m, p)
	}
	return c
}

// result fills in what the creator decided. The probability stays at the last
// trade.
func result(c *short, m *world.Market, last float64) {
	at, share := m.ChangedAt.UnixMilli(), last
	c.IsResolved, c.ResolutionTime, c.Resolution = true, &at, string(m.Verdict)
	if m.Verdict == world.Invalid {
		c.Resolution = formCancel
		if m.Form == formShare || m.Form == "" && (m.Payout != nil || m.Odd("share", 2)) {
			c.Resolution, share = formShare, 0.5
			if m.Payout != nil {
				share = m.Payout.Float()
			}
		}
	}
	c.ResolutionProbability = &share
}

// list writes a market as lists do.
func (s *Service) list(m *world.Market) any {
	if m.Raw == nil {
		return s.short(m)
	}
	var fields map[string]json.RawMessage
	raw, err := json.Marshal(s.single(m))
	if err != nil || json.Unmarshal(raw, &fields) != nil {
		return m.Raw
	}
	for _, name := range []string{"description", "textDescription", "groupSlugs", "options", "answers"} {
		delete(fields, name)
	}
	return fields
}

// single writes a market whole.
func (s *Service) single(m *world.Market) any {
	if m.Raw != nil && !m.Patched {
		return m.Raw
	}
	f := full{short: s.short(m), TextDescription: m.Description, GroupSlugs: []string{}}
	f.Description = richText{Type: "doc", Content: []richText{{Type: "paragraph", Content: []richText{{Type: "text", Text: m.Description}}}}}
	for _, t := range m.Tags {
		f.GroupSlugs = append(f.GroupSlugs, t.Slug+"-default")
	}
	if f.OutcomeType == kindPoll {
		f.Options = []option{{"Ochre", 4}, {"Umber", 9}}
	}
	if m.Raw != nil {
		return reply.Over(m.Raw, f, "closeTime", "probability", "isResolved", "resolution", "resolutionTime", "resolutionProbability", "lastUpdatedTime", "pool")
	}
	return f
}
