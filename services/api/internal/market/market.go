package market

import (
	"slices"
	"strings"
	"time"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/protocol"
)

// Errors of methods that read a market.
var (
	ErrNotFound = apperr.New(apperr.NotFound, "market_not_found", "no such market")
	// ErrUnavailable means that the venue cannot be reached and the market is not stored.
	ErrUnavailable = apperr.New(apperr.Unavailable, "venue_unavailable", "the market's venue is unavailable; retry later")
)

const (
	// LiveFor is the time for which a price of a venue is shown after the venue was read.
	LiveFor = 10 * time.Minute
	// SnapshotAge is the greatest age of a price snapshot that may be used as the price of a call.
	SnapshotAge = 15 * time.Minute
	// AirAhead is the shortest time before the end of a market at which a programme may include the market.
	AirAhead = 10 * time.Minute
)

// Market is one stored market. A nil or empty member is unknown or does not apply.
type Market struct {
	ID            protocol.MarketID
	Provider      protocol.Provider
	Title         string
	Description   string
	EndDate       *time.Time
	Status        protocol.MarketStatus
	Provisional   bool // the venue shows a result, or a proposed outcome waits for a decision
	Disputed      bool // marked as disputed in this service; a challenge at the venue sets Provisional
	ClosedAt      *time.Time
	ProvisionalAt *time.Time
	FinalVerdict  *protocol.Verdict // final result of the venue, not yet claimed as an outcome
	FinalAt       *time.Time        // first time at which FinalVerdict was seen
	FinalPayout   *string
	Verdict       *protocol.Verdict // the claimed outcome
	ClosePrice    *protocol.Bps
	Lane          protocol.Lane
	Category      string
	Slug          string
	EventKey      string
	EventTitle    string
	ConditionID   string
	ClobTokenID   string
	YesIndex      int
	Outcomes      []string // two labels in the order of the venue; empty means Yes and No
	ImageURL      string
	URL           string
	VolumeUnit    string
	Yes           *protocol.Bps
	PricedAt      *time.Time
	YesPrice      *protocol.Bps // price at which YES can be bought
	NoPrice       *protocol.Bps
	SidesPricedAt *time.Time // time of YesPrice and NoPrice
	Volume        *float64   // in VolumeUnit
	VolumeUSD     *float64
	Volume24h     *float64
	Liquidity     *float64
	FetchedAt     *time.Time // time of the newest record that changed the market; nil: no venue has returned a record
	CreatedAt     time.Time
	UpdatedAt     time.Time
	RatedRuling   *bool  // whether calls count, as set by an administrator; nil: decided by RatedBy
	Creator       string // user id at Manifold, where any user may create markets
	Rated         bool   // calls count; set by the store

	// Members of a native market.
	ResolvesBy       *time.Time
	ResolutionSource *string
	InitialYes       *protocol.Bps
	CreatedBy        *string

	// Counters.
	YesCount, NoCount int64 // canonical calls by side
	CrowdYes, CrowdNo int64 // canonical calls of operators that count as crowd
	Takes             int64
	Streams           int32 // number of live streams that show the market
	Tapes             int64 // number of tapes (clips that are shown)
}

// Signals returns the number of calls on both sides together.
func (m *Market) Signals() int64 { return m.YesCount + m.NoCount }

// RatedBy reports whether calls on the market count. If an administrator has decided (RatedRuling), that decision applies.
// Otherwise a native market counts if an administrator created it. A market of Manifold counts if its creator is in creators
// or creators contains "*". Any other market counts if its volume is at least minVolumeUSD; an unknown volume is 0.
func (m *Market) RatedBy(minVolumeUSD float64, creators []string) bool {
	switch {
	case m.RatedRuling != nil:
		return *m.RatedRuling
	case m.IsNative():
		return m.CreatedBy != nil && *m.CreatedBy == "admin"
	case m.Provider == protocol.Manifold:
		return slices.Contains(creators, "*") || slices.Contains(creators, m.Creator)
	case m.VolumeUSD == nil:
		return minVolumeUSD <= 0
	}
	return *m.VolumeUSD >= minVolumeUSD
}

// Sides returns the names of the sides YES and NO. They are Yes and No unless the venue has two other names.
func (m *Market) Sides() []string {
	if len(m.Outcomes) != 2 || m.Outcomes[0] == "" || m.Outcomes[1] == "" || m.YesIndex < 0 || m.YesIndex > 1 {
		return []string{"Yes", "No"}
	}
	yes, no := m.Outcomes[m.YesIndex], m.Outcomes[1-m.YesIndex]
	if strings.EqualFold(yes, "yes") && strings.EqualFold(no, "no") {
		return []string{"Yes", "No"}
	}
	return []string{yes, no}
}

// IsNative reports whether the market was created in this service.
func (m *Market) IsNative() bool { return m.Provider == protocol.Manual }

// Read returns the stored market as it is served at the time now. It computes the price of a native market from its crowd,
// and closes it after its cutoff. It omits venue prices that are older than LiveFor, and the prices of sides unless the market is
// open. It sets Provisional for a market that is closed or disputed, and for a native market after its end date. If pastEnd is
// true, it also sets Provisional for a market of a venue after its end date. A resolved market is never provisional.
func (m Market) Read(now time.Time, pastEnd bool) Market {
	ended := m.EndDate != nil && !m.EndDate.After(now)
	if m.IsNative() {
		if m.ProvisionalAt != nil && now.Sub(*m.ProvisionalAt) >= ProposalLife {
			m.Provisional, m.ProvisionalAt = false, nil // the proposal has expired
		}
		if m.Status == protocol.MarketOpen && ended {
			m.Status = protocol.MarketClosed
		}
		if m.InitialYes != nil {
			yes := NativePrice(*m.InitialYes, m.CrowdYes, m.CrowdNo)
			m.Yes, m.PricedAt = &yes, &now
			m.YesPrice, m.NoPrice = new(max(yes, *m.InitialYes)), new(max(yes.Of(protocol.No), m.InitialYes.Of(protocol.No)))
			m.SidesPricedAt = &now
		}
	} else if m.PricedAt != nil && now.Sub(*m.PricedAt) > LiveFor {
		m.Yes = nil
	}
	if m.Status != protocol.MarketOpen || m.SidesPricedAt == nil || now.Sub(*m.SidesPricedAt) > LiveFor {
		m.YesPrice, m.NoPrice, m.SidesPricedAt = nil, nil, nil
	}
	settled := m.Status == protocol.MarketResolved
	m.Provisional = !settled && (m.Provisional || m.Disputed || m.Status == protocol.MarketClosed ||
		ended && (pastEnd || m.IsNative()))
	if m.Yes == nil {
		m.PricedAt = nil
	} else if !m.IsNative() && m.PricedAt.After(m.UpdatedAt) {
		m.UpdatedAt = *m.PricedAt
	}
	return m
}

// Airable reports whether a programme may include the market: it is open and not provisional, has a price, and ends more
// than AirAhead after now. The market must be a result of Read.
func (m *Market) Airable(now time.Time) bool {
	return m.Status == protocol.MarketOpen && !m.Provisional && m.Yes != nil &&
		m.EndDate != nil && m.EndDate.After(now.Add(AirAhead))
}

// Point is one stored price snapshot of a market: the YES price at a time.
type Point struct {
	At  time.Time
	Yes protocol.Bps
}
