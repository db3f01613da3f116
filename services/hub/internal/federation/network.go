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

// Hub is the origin of our own rows.
const Hub = "hub"

// Sizes of the lists.
const (
	DefaultTapes = 24
	MaxTapes     = 48
	MaxOperators = 40
	MaxRows      = 200 // of one partner that are kept
	MaxInARow    = 3   // tapes of one handle
)

// ErrTape is the answer to a view of what is not shown.
var ErrTape = apperr.New(apperr.NotFound, "not_found", "no such tape")

// Partner is a station whose rows are shown.
type Partner struct {
	Origin       string // the station's id
	OriginURL    string // scheme, host and port
	TapesURL     string // empty: none
	OperatorsURL string // empty: none
}

// Tape is a short piece of a stream.
type Tape struct {
	ID        string
	Origin    string
	OriginURL string
	Handle    string
	URL       string
	MarketID  string
	Href      string
	DurationS *int64
	Views     int64
	Stance    *string
	CreatedAt time.Time
	Boosted   bool
	Approved  bool // the operator, or the partner station, by an administrator
}

// Operator is a row of the field of all stations.
type Operator struct {
	ID           operator.ID // ours alone
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
	AlsoOn       []string // origins where this is the same operator
}

// Reader reads what a partner shows: good rows alone, MaxRows at most. An error says
// that the whole answer is none.
type Reader interface {
	Tapes(ctx context.Context, p Partner) ([]Tape, error)
	Operators(ctx context.Context, p Partner) ([]Operator, error)
}

// Store stores what partners showed last, and reads the clips and claims of this station. Error of all methods: db_unavailable.
type Store interface {
	// KeepTapes replaces the tapes of a partner.
	KeepTapes(ctx context.Context, origin string, list []Tape, at time.Time) error
	// KeepOperators replaces the operators of a partner.
	KeepOperators(ctx context.Context, origin string, list []Operator, at time.Time) error
	// DropOthers deletes the copies of all partners but these.
	DropOthers(ctx context.Context, origins []string) error
	// CopiedTapes returns the tapes of all copies since a time.
	CopiedTapes(ctx context.Context, since time.Time) ([]Tape, error)
	// CopiedOperators returns the operators of all copies since a time.
	CopiedOperators(ctx context.Context, since time.Time) ([]Operator, error)
	// Heard returns when partners were read last, by origin.
	Heard(ctx context.Context) (map[string]time.Time, error)

	// LocalTapes lists the clips of this station that are ready, boosted ones first, then the newest.
	LocalTapes(ctx context.Context, limit int) ([]Tape, error)
	// Views counts player starts of tapes here, in their order.
	Views(ctx context.Context, list []Tape) ([]int64, error)
	// AddView adds a player start.
	AddView(ctx context.Context, origin, id string) error

	// Owners returns the operators that have claimed one of these.
	Owners(ctx context.Context, list []Proof) (map[Proof]operator.ID, error)
}

// Proof is a wallet at a station.
type Proof struct {
	Station  string
	Identity string // as claim.Address spells it
}

// Origins is a set of origins, by name or by address.
type Origins map[string]bool

// maxOrigins bounds what is read of a list.
const maxOrigins = 64

// ParseOrigins reads a list with commas; it never fails.
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

// Wanted says whose rows a reader wants.
type Wanted struct {
	Only    Origins // none: all
	Without Origins // what the reader has already
}

// has tells whether rows of an origin are wanted.
func (w Wanted) has(origin, originURL string) bool {
	return (len(w.Only) == 0 || w.Only.has(origin, originURL)) && !w.Without.has(origin, originURL)
}

// OriginOf returns the origin of an http or https address: scheme, host without a final dot, and port unless it is the default.
// It returns "" for anything else.
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

// human tells whether a row is of a person.
func (o *Operator) human() bool {
	return o.OperatorType == string(protocol.Human) && (o.Tier == string(protocol.Independent) || o.Tier == string(protocol.House))
}

// partners returns the active stations of the ledger.
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

// ranked returns the people of this station who have a decided call, the best first.
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
