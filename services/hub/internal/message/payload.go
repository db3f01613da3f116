package message

import (
	"time"

	"github.com/signalcast/signalcast/pkg/syntax"
)

// Payload is what one message type carries: *Profile, *Station, *Broadcast,
// *GoLive, *Call, *Market or *Resolution. Members that were left out are nil.
type Payload interface{ payload() }

// Clearable is a text that may be left out, set, or cleared with null.
type Clearable struct {
	Given bool
	Text  *string
}

// Profile is the payload of profile.update.
type Profile struct {
	DisplayName   *string
	Bio           *string
	Avatar        Clearable
	Links         []string // nil: left out
	PayoutAddress Clearable
}

// Station is the payload of station.create and station.update.
type Station struct {
	StationID    string
	Name         *string
	URL          *string
	Lanes        []syntax.Lane     // nil: left out
	Providers    []syntax.Provider // nil: left out
	TapesURL     *string
	OperatorsURL *string
	Description  *string
	Status       *string // active or paused; update only
}

// Broadcast is the payload of broadcast.create.
type Broadcast struct {
	Title        string
	MarketID     *syntax.MarketID
	StationID    *string
	ScheduledFor *time.Time
	Lane         *syntax.Lane
}

// GoLive is the payload of broadcast.goLive.
type GoLive struct {
	BroadcastID string // a uuid
	URL         string // of a playlist
	MarketID    *syntax.MarketID
	Label       *string
}

// Call is the payload of signal.create and prediction.create.
type Call struct {
	MarketID    syntax.MarketID
	Side        syntax.Side
	Price       *syntax.Bps
	Confidence  *int
	Take        *string
	MarketTitle *string
	Filed       *Filed // attested only
}

// Filed is what the hub adds when it attests a call.
type Filed struct {
	SignalID   string // a uuid
	Price      syntax.Bps
	Credential string // app_token or operator_key
	At         time.Time
}

// Market is the payload of market.create. The bounds of its times against now
// and each other belong to the effect.
type Market struct {
	Question         string
	CutoffAt         time.Time
	Lane             syntax.Lane
	Description      *string
	ResolvesBy       *time.Time
	ResolutionSource *string
	InitialYes       *syntax.Bps
}

// Resolution is the payload of resolution.create.
type Resolution struct {
	MarketID syntax.MarketID // native
	Verdict  string          // YES, NO or INVALID
	ProofURL *string
	Reason   *string
	Final    *Final // attested only
}

// Final is what the hub adds when it attests an outcome.
type Final struct {
	Resolver string
	Source   string
}

func (*Profile) payload()    {}
func (*Station) payload()    {}
func (*Broadcast) payload()  {}
func (*GoLive) payload()     {}
func (*Call) payload()       {}
func (*Market) payload()     {}
func (*Resolution) payload() {}

// ReadPayload reads a canonical payload of a type. What the hub adds to it is
// demanded when it is attested and refused when it is not. Every rule here
// stands in the schema of the type too (see Schema). Fault: invalid_request with
// reason payload and the field.
func ReadPayload(t Type, canonical []byte, attested bool) (Payload, error) {
	f, err := newForm(canonical)
	if err != nil {
		return nil, err
	}
	var p Payload
	switch t {
	case ProfileUpdate:
		p = readProfile(f)
	case StationCreate, StationUpdate:
		p = readStation(f, t == StationUpdate)
	case BroadcastCreate:
		p = readBroadcast(f)
	case BroadcastGoLive:
		p = readGoLive(f)
	case SignalCreate, PredictionCreate:
		p = readCall(f, attested)
	case MarketCreate:
		p = readMarket(f)
	case ResolutionCreate:
		p = readResolution(f, attested)
	default:
		return nil, badMember("type", "type is no message type")
	}
	if err := f.close(); err != nil {
		return nil, err
	}
	return p, nil
}

func readProfile(f *form) *Profile {
	f.atLeast(1)
	return &Profile{
		DisplayName:   f.may(name(1, 64), "displayName"),
		Bio:           plain(f.may(prose(280), "bio")),
		Avatar:        f.clearable(link, "avatar"),
		Links:         list[string](f, "links", 5, false, link),
		PayoutAddress: f.clearable(wallet, "payoutAddress"),
	}
}

func readStation(f *form, update bool) *Station {
	s := &Station{StationID: f.must(stationID, "stationId")}
	if update {
		f.atLeast(2)
		s.Name, s.URL = f.may(name(1, 64), "name"), f.may(link, "url")
		s.Status = f.may(oneOf("active", "paused"), "status")
	} else {
		label, url := f.must(name(1, 64), "name"), f.must(link, "url")
		s.Name, s.URL = &label, &url
	}
	s.Lanes = list[syntax.Lane](f, "lanes", len(syntax.Lanes), true, lane)
	s.Providers = list[syntax.Provider](f, "providers", len(syntax.Providers), true, provider)
	s.TapesURL, s.OperatorsURL = f.may(link, "tapesUrl"), f.may(link, "operatorsUrl")
	s.Description = plain(f.may(prose(280), "description"))
	return s
}

func readBroadcast(f *form) *Broadcast {
	return &Broadcast{
		Title:        f.must(line(1, 120), "title"),
		MarketID:     as(f.may(market, "marketId"), toMarket),
		StationID:    f.may(stationID, "stationId"),
		ScheduledFor: f.mayTime("scheduledFor"),
		Lane:         as(f.may(lane, "lane"), toLane),
	}
}

func readGoLive(f *form) *GoLive {
	return &GoLive{
		BroadcastID: f.must(isUUID, "broadcastId"),
		URL:         f.must(playlist, "url"),
		MarketID:    as(f.may(market, "marketId"), toMarket),
		Label:       f.may(nameOrNone(80), "label"),
	}
}

func readCall(f *form, attested bool) *Call {
	c := &Call{
		MarketID:    syntax.MarketID(f.must(market, "marketId", "eventId")),
		Side:        syntax.Side(f.must(oneOf("YES", "NO"), "position", "signal")),
		Price:       as(f.mayInt("priceBps", 0, int(syntax.MaxBps)), toBps),
		Confidence:  f.mayInt("confidence", 1, 100),
		Take:        plain(f.may(prose(500), "take")),
		MarketTitle: f.may(line(0, 300), "marketTitle"),
	}
	if attested {
		c.Filed = &Filed{
			SignalID:   f.must(isUUID, "signalId"),
			Price:      syntax.Bps(f.mustInt("priceAtPrediction", 0, int(syntax.MaxBps))),
			Credential: f.must(oneOf("app_token", "operator_key"), "credential"),
			At:         f.mustTime("filedAt"),
		}
	}
	return c
}

func readMarket(f *form) *Market {
	return &Market{
		Question:         f.must(line(10, 200), "question"),
		CutoffAt:         f.mustTime("cutoffAt"),
		Lane:             syntax.Lane(f.must(lane, "lane")),
		Description:      plain(f.may(prose(4000), "description")),
		ResolvesBy:       f.mayTime("resolvesBy"),
		ResolutionSource: f.may(link, "resolutionSource"),
		InitialYes:       as(f.mayInt("initialYesBps", 100, 9900), toBps),
	}
}

func readResolution(f *form, attested bool) *Resolution {
	r := &Resolution{
		MarketID: syntax.MarketID(f.must(native, "marketId")),
		Verdict:  f.must(oneOf("YES", "NO", "INVALID"), "verdict"),
		ProofURL: f.may(link, "proofUrl"),
		Reason:   plain(f.may(prose(500), "reason")),
	}
	if attested {
		r.Final = &Final{Resolver: f.must(name(1, 64), "resolver"), Source: f.must(name(1, 64), "source")}
	}
	return r
}

func toMarket(s string) syntax.MarketID { return syntax.MarketID(s) }
func toLane(s string) syntax.Lane       { return syntax.Lane(s) }
func toBps(n int) syntax.Bps            { return syntax.Bps(n) }
