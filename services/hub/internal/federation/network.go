package federation

import (
	"context"
	"net/url"
	"strings"
	"time"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/ledgerclient"
	"github.com/signalcast/signalcast/pkg/protocol"
	operatorv1 "github.com/signalcast/signalcast/proto/operator/v1"
	recordv1 "github.com/signalcast/signalcast/proto/record/v1"
	stationv1 "github.com/signalcast/signalcast/proto/station/v1"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

// Hub is the value of Origin for entries of this station.
const Hub = "hub"

// Limits of the lists of tapes and operators.
const (
	DefaultTapes = 24
	MaxTapes     = 48
	MaxOperators = 40
	MaxRows      = 200 // stored entries per partner and list
	MaxInARow    = 3   // consecutive tapes of one handle
)

// ErrTape is returned for an unknown tape.
var ErrTape = apperr.New(apperr.NotFound, "not_found", "no such tape")

// Partner is an active partner station with the URLs of its lists.
type Partner struct {
	Origin       string // station id
	OriginURL    string // scheme, host and port
	TapesURL     string // empty: none
	OperatorsURL string // empty: none
}

// Tape is a short clip of a stream, of this station or of a partner.
type Tape struct {
	ID        string
	Origin    string
	OriginURL string
	Handle    string
	URL       string
	MarketID  string // empty: none
	Href      string
	DurationS *int64
	Views     int64
	Stance    *string
	CreatedAt time.Time
	Boosted   bool
	Approved  bool // an administrator approved the operator or the partner station
}

// Operator is an entry of the ranking of operators across all stations.
type Operator struct {
	ID           operator.ID // set only for operators of this station
	Origin       string
	OriginURL    string
	Handle       string
	DisplayName  string
	AvatarURL    *string
	Score        int64
	Accuracy     int64
	Total        int64
	Won          int64
	Lost         int64
	Pending      int64
	Followers    int64
	Href         string
	Tier         string
	OperatorType string
	Resolved     int64
	Streak       int64
	AvgClv       *int64
	AlsoOn       []string // origins of the same operator's entries that were merged into this one
}

// Reader reads the lists of a partner. It returns only valid entries, at most MaxRows per list. An error means that the whole
// list is unusable.
type Reader interface {
	Tapes(ctx context.Context, p Partner) ([]Tape, error)
	Operators(ctx context.Context, p Partner) ([]Operator, error)
}

// Store stores the last lists that were read from partners. It also reads the clips and claims of this station and counts
// views of tapes. Error of all methods: db_unavailable.
type Store interface {
	// ReplaceTapes replaces the tapes of a partner.
	ReplaceTapes(ctx context.Context, origin string, list []Tape, at time.Time) error
	// ReplaceOperators replaces the operators of a partner.
	ReplaceOperators(ctx context.Context, origin string, list []Operator, at time.Time) error
	// DeleteOthers deletes the copies of all stations except these.
	DeleteOthers(ctx context.Context, origins []string) error
	// CopiedTapes returns the tapes of all stored lists that were read at or after since.
	CopiedTapes(ctx context.Context, since time.Time) ([]Tape, error)
	// CopiedOperators returns the operators of all stored lists that were read at or after since.
	CopiedOperators(ctx context.Context, since time.Time) ([]Operator, error)
	// LastReads returns the time of the last successful read of each partner, by origin.
	LastReads(ctx context.Context) (map[string]time.Time, error)

	// LocalTapes lists ready clips of this station: boosted ones first, then newest first.
	LocalTapes(ctx context.Context, limit int) ([]Tape, error)
	// Views returns, for each tape of list in the same order, its number of views at this station.
	Views(ctx context.Context, list []Tape) ([]int64, error)
	// AddView adds a view of a tape.
	AddView(ctx context.Context, origin, id string) error

	// Owners returns, for each wallet that an operator of this station has claimed, that operator. It omits other wallets.
	Owners(ctx context.Context, list []Proof) (map[Proof]operator.ID, error)
}

// Proof is a wallet that identifies an operator at a station.
type Proof struct {
	Station  string
	Identity string // in the form of identityclaim.Address
}

// Origins is a set of stations. Each station is named by its id or by its origin URL.
type Origins map[string]bool

// maxOrigins is the maximum number of origins that ParseOrigins accepts.
const maxOrigins = 64

// ParseOrigins parses a comma-separated list of station ids and URLs. It ignores empty and overlong entries, and all entries
// after maxOrigins.
func ParseOrigins(raw string) Origins {
	out := Origins{}
	for word := range strings.SplitSeq(raw, ",") {
		if word = strings.TrimSpace(word); word == "" || len(word) > 300 {
			continue
		}
		if len(out) == maxOrigins {
			break
		}
		if o := OriginOf(word); o != "" {
			word = o
		}
		out[word] = true
	}
	return out
}

func (o Origins) has(origin, originURL string) bool { return o[origin] || o[originURL] }

// Wanted selects the stations whose entries a client requests.
type Wanted struct {
	Only    Origins // only entries of these stations; empty: all stations
	Without Origins // stations whose entries the client already has
}

// has reports whether the entries of a station are selected.
func (w Wanted) has(origin, originURL string) bool {
	return (len(w.Only) == 0 || w.Only.has(origin, originURL)) && !w.Without.has(origin, originURL)
}

// OriginOf returns the origin of an http or https URL: scheme, host without a final dot, and port unless it is the default port.
// It returns "" for any other text and for a URL with a user name.
func OriginOf(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "" || u.User != nil || u.Opaque != "" {
		return ""
	}
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if p := u.Port(); p != "" && (u.Scheme != "https" || p != "443") && (u.Scheme != "http" || p != "80") {
		host += ":" + p
	}
	return u.Scheme + "://" + host
}

// human reports whether an operator is human and has a tier that the ranking includes: independent or house.
func (o *Operator) human() bool {
	return o.OperatorType == string(protocol.Human) && (o.Tier == string(protocol.Independent) || o.Tier == string(protocol.House))
}

// partners returns the active partner stations of the ledger.
func partners(ctx context.Context, ledger *ledgerclient.Client) ([]Partner, error) {
	r, err := ledger.Stations.ListActiveStations(ctx, &stationv1.ListActiveStationsRequest{})
	if err != nil {
		return nil, err
	}
	out := make([]Partner, 0, len(r.GetStations()))
	for _, st := range r.GetStations() {
		out = append(out, Partner{
			Origin: st.GetStationId(), OriginURL: st.GetOriginUrl(), TapesURL: st.GetTapesUrl(), OperatorsURL: st.GetOperatorsUrl(),
		})
	}
	return out, nil
}

// ranked returns up to limit operators of this station that have a decided call, best first.
func ranked(ctx context.Context, ledger *ledgerclient.Client, limit int) ([]Operator, error) {
	r, err := ledger.Records.ListOperators(ctx, &recordv1.ListOperatorsRequest{Limit: int32(limit)})
	if err != nil {
		return nil, err
	}
	out := make([]Operator, 0, len(r.GetOperators()))
	for _, row := range r.GetOperators() {
		out = append(out, operatorOf(row.GetOperator(), row.GetStats()))
	}
	return out, nil
}

func operatorOf(o *operatorv1.Operator, st *recordv1.Stats) Operator {
	one := Operator{
		ID: operator.ID(o.GetId()), Handle: o.GetHandle(), DisplayName: o.GetDisplayName(), Score: st.GetScore(),
		Accuracy: int64(st.GetAccuracy()),
		Total:    st.GetTotal(), Won: st.GetWon(), Lost: st.GetLost(),
		Pending:  st.GetTotal() - st.GetWon() - st.GetLost() - st.GetVoid(),
		Resolved: st.GetWon() + st.GetLost(), Streak: st.GetStreak(), Tier: o.GetTier(), OperatorType: o.GetOperatorType(),
	}
	if avatar := o.GetAvatarUrl(); avatar != "" {
		one.AvatarURL = &avatar
	}
	if st != nil && st.AvgClvBps != nil {
		one.AvgClv = new(int64(st.GetAvgClvBps()))
	}
	return one
}
