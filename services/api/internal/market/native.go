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

// Bounds and defaults of the members of a native market, and the weight of its initial price. Text lengths are in characters,
// except MaxSource, which is in bytes.
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
	prior          = 8 // weight of the initial price, in calls
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
	MessageID        string       // id of the signed message that requests the market; empty for an administrator
}

// MaxDaily is the largest number of native markets that an operator may create in 24 hours.
const MaxDaily = 5

// ErrTier rejects a native market if the tier of its creator is neither independent nor house.
var ErrTier = apperr.New(apperr.Forbidden, "forbidden",
	"only human operators of the tiers independent and house may create markets")

// Native is a native market and the outcome that its creator proposed. Proposal is nil if there is none.
type Native struct {
	Market   Market
	Proposal *Proposal
}

// Proposal is a proposed outcome. It has no effect until an administrator decides.
type Proposal struct {
	Verdict  protocol.Verdict
	ProofURL *string
	At       time.Time
}

// ProposalLife is the time after which a proposal expires.
const ProposalLife = 7 * 24 * time.Hour

// NativeStatus selects native markets by status in a list.
type NativeStatus string

// Values of NativeStatus. NativeOpen selects every market without an outcome, including closed markets.
const (
	NativeOpen     NativeStatus = "open"
	NativeClosed   NativeStatus = "closed"
	NativeResolved NativeStatus = "resolved"
	NativeAll      NativeStatus = "all"
)

// parseNativeStatus returns NativeOpen for an unknown filter, because list requests never fail on a filter.
func parseNativeStatus(s string) NativeStatus {
	switch f := NativeStatus(s); f {
	case NativeClosed, NativeResolved, NativeAll:
		return f
	}
	return NativeOpen
}

// ListNative returns at most limit native markets with the given status, newest first. An unknown status means NativeOpen.
// If due is true, it returns only markets whose cutoff has passed and that have no outcome. Error: db_unavailable.
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

// validate returns an invalid_<member> error if a member of the draft is out of bounds. Callers check the same bounds, but
// the ledger does not rely on that.
func (d *Draft) validate(now time.Time) error {
	switch {
	case !protocol.IsLine(d.Question, MinQuestion, MaxQuestion):
		return invalid("question", fmt.Sprintf("question must be %d to %d characters on one line", MinQuestion, MaxQuestion))
	case utf8.RuneCountInString(d.Description) > MaxDescription || !protocol.IsText(d.Description, true):
		return invalid("description",
			fmt.Sprintf("description must have at most %d characters, and no control characters except line feeds", MaxDescription))
	case d.CutoffAt.Before(now.Add(minAhead)) || d.CutoffAt.After(now.AddDate(maxAheadYears, 0, 0)):
		return invalid("cutoffAt", "cutoffAt must be 5 minutes to 2 years ahead")
	case d.ResolvesBy != nil && d.ResolvesBy.Before(d.CutoffAt):
		return invalid("resolvesBy", "resolvesBy must not be before cutoffAt")
	case d.ResolvesBy != nil && d.ResolvesBy.Year() > 9999:
		return invalid("resolvesBy", "resolvesBy must be before the year 10000")
	case d.InitialYes < MinYes || d.InitialYes > MaxYes:
		return invalid("initialYesBps", "initialYesBps must be 100 to 9900")
	case d.ResolutionSource != nil && !isLink(*d.ResolutionSource):
		return invalid("resolutionSource",
			"resolutionSource must be an http or https URL of at most 500 bytes, without control characters")
	case d.CreatedBy == "" || len(d.CreatedBy) > 64 || !protocol.IsText(d.CreatedBy, false):
		return invalid("createdBy", "createdBy must be 1 to 64 printable characters")
	}
	if _, ok := protocol.ParseLane(string(d.Lane)); !ok {
		return invalid("lane", "lane must be one of: "+protocol.LaneNames(protocol.Lanes[:]))
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

// idText encodes ids in lower-case base32. Its alphabet preserves the order of the encoded bytes, so ids sort by creation
// time.
var idText = base32.NewEncoding("0123456789abcdefghijklmnopqrstuv").WithPadding(base32.NoPadding)

// newNativeID returns a new market id: "native-" and the 26 base32 characters of a UUIDv7.
func newNativeID() (protocol.MarketID, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return "", fmt.Errorf("make a market id: %w", err)
	}
	return protocol.NewMarketID(protocol.Manual, idText.EncodeToString(id[:]))
}

// NativePrice returns the YES price of a native market: the share of YES calls of the crowd, smoothed by a prior of
// eight calls at the initial price, within 100 to 9900 bps.
func NativePrice(initial protocol.Bps, crowdYes, crowdNo int64) protocol.Bps {
	sum, n := prior*int64(initial)+int64(protocol.MaxBps)*crowdYes, prior+crowdYes+crowdNo
	return min(max(protocol.Bps((2*sum+n)/(2*n)), MinYes), MaxYes)
}
