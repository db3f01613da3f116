package market

import (
	"slices"
	"time"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/protocol"
)

// Expected failures.
var (
	ErrNotFound = apperr.New(apperr.NotFound, "market_not_found", "no such market")
	// ErrUnavailable: the venue cannot be reached and nothing is kept of the market.
	ErrUnavailable = apperr.New(apperr.Unavailable, "venue_unavailable", "the market's venue cannot be reached")
)

const (
	// LiveFor is how long a price is shown after it was read.
	LiveFor = 10 * time.Minute
	// SnapshotAge is how old a snapshot may be that a call is priced by.
	SnapshotAge = 15 * time.Minute
	// AirAhead is how far ahead of now a market must end to be aired.
	AirAhead = 10 * time.Minute
)

// Market is one stored market. Nil members are unknown or do not apply.
type Market struct {
	ID            protocol.MarketID
	Provider      protocol.Provider
	Title         string
	Description   string
	EndDate       *time.Time
	Status        protocol.MarketStatus
	Provisional   bool // the venue shows a result, or a proposal waits
	Disputed      bool // flagged here; a challenge at the venue is Provisional
	ClosedAt      *time.Time
	ProvisionalAt *time.Time
	FinalVerdict  *protocol.Verdict // the venue's final word, not claimed yet
	FinalAt       *time.Time        // since when it stands
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
	Outcomes      []string // two labels; empty: Yes and No
	ImageURL      string
	URL           string
	VolumeUnit    string
	Yes           *protocol.Bps
	PricedAt      *time.Time
	Volume        *float64 // in VolumeUnit
	VolumeUSD     *float64
	Volume24h     *float64
	Liquidity     *float64
	FetchedAt     *time.Time // newest answer that changed the row; nil: no venue ever answered
	CreatedAt     time.Time
	UpdatedAt     time.Time
	RatedRuling   *bool  // whether calls count, as an administrator decided; nil: by rule
	Creator       string // at the venue, where anybody may create markets
	Rated         bool   // calls count; set by the store

	// Members of a native market.
	ResolvesBy       *time.Time
	ResolutionSource *string
	InitialYes       *protocol.Bps
	CreatedBy        *string

	// Counters.
	YesCount, NoCount int64 // canonical signals by side
	CrowdYes, CrowdNo int64 // of them, by operators that count as crowd
	Takes             int64
	Streams           int32 // that are bound to it
}

// Signals is the number of canonical signals.
func (m *Market) Signals() int64 { return m.YesCount + m.NoCount }

// RatedBy reports whether calls on the market count: by the ruling of an administrator, else by
// its kind. A native market is rated if an administrator created it, one of Manifold by its
// creator ("*" are all), and others from a volume on.
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

// IsNative reports a market of the service's own.
func (m *Market) IsNative() bool { return m.Provider == protocol.Manual }

// Read turns the stored market into what is served at now: a native market is
// priced from its crowd and closed past its cutoff, a venue's price older than
// LiveFor is not shown, and Provisional is that of contract 4.3.2. pastEnd tells
// whether the end of a venue's market makes it provisional (a native one always).
func (m Market) Read(now time.Time, pastEnd bool) Market {
	ended := m.EndDate != nil && !m.EndDate.After(now)
	if m.IsNative() {
		if m.ProvisionalAt != nil && now.Sub(*m.ProvisionalAt) >= ProposalLife {
			m.Provisional, m.ProvisionalAt = false, nil // its proposal has ended
		}
		if m.Status == protocol.MarketOpen && ended {
			m.Status = protocol.MarketClosed
		}
		if m.InitialYes != nil {
			yes := NativePrice(*m.InitialYes, m.CrowdYes, m.CrowdNo)
			m.Yes, m.PricedAt = &yes, &now
		}
	} else if m.PricedAt != nil && now.Sub(*m.PricedAt) > LiveFor {
		m.Yes = nil
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

// Airable reports a market that may be put on the air (contract 4.6.9); it
// reads a market that went through Read.
func (m *Market) Airable(now time.Time) bool {
	return m.Status == protocol.MarketOpen && !m.Provisional && m.Yes != nil &&
		m.EndDate != nil && m.EndDate.After(now.Add(AirAhead))
}

// Point is one stored snapshot.
type Point struct {
	At  time.Time
	Yes protocol.Bps
}
