package market

import (
	"time"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/ledgerclient"
	"github.com/signalcast/signalcast/pkg/protocol"
	marketv1 "github.com/signalcast/signalcast/proto/market/v1"
)

// Limits and the default price of a native market. Limits of texts are in characters, and prices are in basis points.
const (
	MinQuestion    = 10
	MaxQuestion    = 200
	MaxDescription = 4000
	MaxSource      = 500
	MinYes         = 100
	MaxYes         = 9900
	DefaultYes     = 5000
	minAhead       = 5 * time.Minute
	maxAheadYears  = 2
)

// Errors of the dates of a market draft.
var (
	ErrCutoff = apperr.New(apperr.Invalid, "invalid_cutoff_at",
		"cutoffAt must be 5 minutes to 2 years ahead").With("field", "cutoffAt")
	ErrResolvesBy = apperr.New(apperr.Invalid, "invalid_resolves_by",
		"resolvesBy must not be before cutoffAt").With("field", "resolvesBy")
)

// Draft is a native market that has not been created yet.
type Draft struct {
	Question         string
	Description      string
	CutoffAt         time.Time
	ResolvesBy       time.Time // zero: no date
	Lane             protocol.Lane
	ResolutionSource *string
	InitialYes       protocol.Bps
	CreatedBy        string // operator id, or "admin"
	MessageID        string // signed message that creates the market; empty: an administrator creates it
}

// Request returns the ledger request that creates the market.
func (d *Draft) Request() *marketv1.CreateNativeRequest {
	return &marketv1.CreateNativeRequest{
		Question: d.Question, Description: d.Description, CutoffAt: ledgerclient.Timestamp(d.CutoffAt),
		ResolvesBy: ledgerclient.Timestamp(d.ResolvesBy), Lane: string(d.Lane), ResolutionSource: d.ResolutionSource,
		InitialYesBps: int32(d.InitialYes), CreatedBy: d.CreatedBy, MessageId: d.MessageID,
	}
}

// CheckDates checks that the cutoff is 5 minutes to 2 years after now, and that ResolvesBy is not before the cutoff. Errors:
// ErrCutoff, ErrResolvesBy.
func (d Draft) CheckDates(now time.Time) error {
	if d.CutoffAt.Before(now.Add(minAhead)) || d.CutoffAt.After(now.AddDate(maxAheadYears, 0, 0)) {
		return ErrCutoff
	}
	if !d.ResolvesBy.IsZero() && d.ResolvesBy.Before(d.CutoffAt) {
		return ErrResolvesBy
	}
	return nil
}
