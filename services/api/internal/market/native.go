package market

import (
	"context"
	"encoding/base32"
	"fmt"
	"net/url"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/protocol"
)

// Bounds of a native market (contract 4.3.7).
const (
	MinQuestion    = 10
	MaxQuestion    = 200
	MaxDescription = 4000
	MaxSource      = 500
	MinYes         = protocol.Bps(100)
	MaxYes         = protocol.Bps(9900)
	DefaultYes     = protocol.Bps(5000)
	minAhead       = 5 * time.Minute
	maxAheadYears  = 2
	prior          = 8 // how many signals the initial price weighs
)

// Draft is a native market to be created.
type Draft struct {
	Question         string
	Description      string
	CutoffAt         time.Time
	ResolvesBy       *time.Time
	Lane             protocol.Lane
	ResolutionSource *string
	InitialYes       protocol.Bps // 0: DefaultYes
	CreatedBy        string       // operator id, or "admin"
	MessageID        string       // of the signed message that asks for it; empty: an admin does
}

// MaxDaily is how many native markets an operator may make in a day.
const MaxDaily = 5

// ErrTier refuses a market to operators that are no humans of their own.
var ErrTier = apperr.New(apperr.Forbidden, "forbidden", "independent and house humans alone create markets")

// Native is a native market with what its creator proposes for its outcome.
type Native struct {
	Market   Market
	Proposal *Proposal
}

// Proposal is a proposed outcome; it decides nothing.
type Proposal struct {
	Verdict  protocol.Verdict
	ProofURL *string
	At       time.Time
}

// ProposalLife is how long a proposal waits for a decision.
const ProposalLife = 7 * 24 * time.Hour

// NativeStatus filters native markets.
type NativeStatus string

// The filters; NativeOpen is every market without an outcome.
const (
	NativeOpen     NativeStatus = "open"
	NativeClosed   NativeStatus = "closed"
	NativeResolved NativeStatus = "resolved"
	NativeAll      NativeStatus = "all"
)

// parseNativeStatus falls back to NativeOpen, as lists never fail.
func parseNativeStatus(s string) NativeStatus {
	switch f := NativeStatus(s); f {
	case NativeClosed, NativeResolved, NativeAll:
		return f
	}
	return NativeOpen
}

// ListNative lists native markets, newest first; due leaves those without an
// outcome whose cutoff has passed. An unknown status is NativeOpen.
func (s *Service) ListNative(ctx context.Context, status string, due bool, limit int) ([]Native, error) {
	now := s.now()
	list, err := s.store.ListNative(ctx, parseNativeStatus(status), due, max(limit, 1), now)
	if err != nil {
		return nil, err
	}
	for i := range list {
		list[i].Market = list[i].Market.Read(now, s.pastEnd)
	}
	return list, nil
}

func invalid(field, message string) error {
	return apperr.New(apperr.Invalid, "invalid_"+protocol.Snake(field), message).With("field", field)
}

// validate keeps out what the front door should have refused already.
func (d *Draft) validate(now time.Time) error {
	switch {
	case !protocol.IsLine(d.Question, MinQuestion, MaxQuestion):
		return invalid("question", fmt.Sprintf("question takes %d to %d characters", MinQuestion, MaxQuestion))
	case utf8.RuneCountInString(d.Description) > MaxDescription || !protocol.IsText(d.Description, true):
		return invalid("description", fmt.Sprintf("description takes at most %d characters", MaxDescription))
	case d.CutoffAt.Before(now.Add(minAhead)) || d.CutoffAt.After(now.AddDate(maxAheadYears, 0, 0)):
		return invalid("cutoffAt", "cutoffAt must be 5 minutes to 2 years ahead")
	case d.ResolvesBy != nil && d.ResolvesBy.Before(d.CutoffAt):
		return invalid("resolvesBy", "resolvesBy must not be before cutoffAt")
	case d.ResolvesBy != nil && d.ResolvesBy.Year() > 9999:
		return invalid("resolvesBy", "resolvesBy is out of range")
	case d.InitialYes < MinYes || d.InitialYes > MaxYes:
		return invalid("initialYesBps", "initialYesBps is 100 to 9900")
	case d.ResolutionSource != nil && !isLink(*d.ResolutionSource):
		return invalid("resolutionSource", "resolutionSource must be an http or https URL of at most 500 characters")
	case d.CreatedBy == "" || len(d.CreatedBy) > 64 || !protocol.IsText(d.CreatedBy, false):
		return invalid("createdBy", "createdBy names who creates the market")
	}
	if _, ok := protocol.ParseLane(string(d.Lane)); !ok {
		return invalid("lane", "unknown lane")
	}
	return nil
}

func isLink(s string) bool {
	if len(s) > MaxSource || !protocol.IsText(s, false) {
		return false
	}
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != ""
}

// idText is base32 in lower case with the alphabet that keeps the order of the
// bytes, so ids sort by creation.
var idText = base32.NewEncoding("0123456789abcdefghijklmnopqrstuv").WithPadding(base32.NoPadding)

// newNativeID writes a uuid v7 as native-<26 characters>.
func newNativeID() (protocol.MarketID, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return "", fmt.Errorf("make a market id: %w", err)
	}
	return protocol.NewMarketID(protocol.Manual, idText.EncodeToString(id[:]))
}

// NativePrice is the YES price of a native market (contract 4.3.7): the crowd
// smoothed by a prior of eight signals at the initial price, within 100..9900.
func NativePrice(initial protocol.Bps, crowdYes, crowdNo int64) protocol.Bps {
	sum, n := prior*int64(initial)+int64(protocol.MaxBps)*crowdYes, prior+crowdYes+crowdNo
	return min(max(protocol.Bps((2*sum+n)/(2*n)), MinYes), MaxYes)
}
