package network

import (
	"context"
	"net/url"
	"strings"
	"time"

	"github.com/signalcast/signalcast/pkg/fault"
	"github.com/signalcast/signalcast/pkg/syntax"
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
var ErrTape = fault.New(fault.NotFound, "not_found", "no such tape")

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

// Heard tells when the rows of partners were read last, by origin. Fault: db_unavailable.
type Heard interface {
	Heard(ctx context.Context) (map[string]time.Time, error)
}

// Reader reads what a partner shows: good rows alone, MaxRows at most. An error says
// that the whole answer is none.
type Reader interface {
	Tapes(ctx context.Context, p Partner) ([]Tape, error)
	Operators(ctx context.Context, p Partner) ([]Operator, error)
}

// Copies keeps what partners showed last. Fault of all: db_unavailable.
type Copies interface {
	KeepTapes(ctx context.Context, origin string, list []Tape, at time.Time) error
	KeepOperators(ctx context.Context, origin string, list []Operator, at time.Time) error
	// DropOthers forgets all partners but these.
	DropOthers(ctx context.Context, origins []string) error
	// CopiedTapes and CopiedOperators give the rows of all copies since a time.
	CopiedTapes(ctx context.Context, since time.Time) ([]Tape, error)
	CopiedOperators(ctx context.Context, since time.Time) ([]Operator, error)
}

// Shelf is what this station itself shows, and what is watched of all. Fault of all:
// db_unavailable.
type Shelf interface {
	// LocalTapes lists the clips that are ready, boosted ones first, then the newest.
	LocalTapes(ctx context.Context, limit int) ([]Tape, error)
	// Views counts player starts of tapes here, in their order.
	Views(ctx context.Context, list []Tape) ([]int64, error)
	AddView(ctx context.Context, origin, id string) error
}

// Proof is a wallet at a station.
type Proof struct {
	Station  string
	Identity string // as claim.Address spells it
}

// Links tells whose a wallet is. Fault: db_unavailable.
type Links interface {
	// Owners gives the operators that have proven to be one of these.
	Owners(ctx context.Context, list []Proof) (map[Proof]operator.ID, error)
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

// OriginOf is scheme, host and port of an address as a browser names them, and empty
// for what is no address.
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
	return o.OperatorType == string(syntax.Human) && (o.Tier == string(syntax.Independent) || o.Tier == string(syntax.House))
}
