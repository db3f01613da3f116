package message

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
)

// Payload is the content of a message: *Profile, *Station, *Broadcast, *GoLive, *Call, *Market or *Resolution. An optional member
// that the message lacks is nil. Fields have the names of the JSON members. encoding/json ignores the case of names, but the
// schema accepts only exact names.
type Payload interface {
	// normalize replaces CR LF with LF in texts, moves values of alternative members to the usual fields, and converts times to
	// UTC.
	normalize()
}

// Clearable is a text member of a message. It can be absent, set, or null, which clears the stored text.
type Clearable struct {
	Given bool
	Text  *string
}

// UnmarshalJSON implements json.Unmarshaler. encoding/json calls it only if the member is present.
func (c *Clearable) UnmarshalJSON(raw []byte) error {
	c.Given = true
	return json.Unmarshal(raw, &c.Text)
}

// Profile is the payload of profile.update.
type Profile struct {
	DisplayName   *string
	Bio           *string
	Avatar        Clearable
	Links         []string // nil: absent
	PayoutAddress Clearable
}

// Station is the payload of station.create and station.update.
type Station struct {
	StationID    string
	Name         *string
	URL          *string
	Lanes        []protocol.Lane     // nil: absent
	Providers    []protocol.Provider // nil: absent
	TapesURL     *string
	OperatorsURL *string
	Description  *string
	Status       *string // active or paused; only in station.update
}

// Broadcast is the payload of broadcast.create.
type Broadcast struct {
	Title        string
	MarketID     *protocol.MarketID
	StationID    *string
	ScheduledFor *time.Time
	Lane         *protocol.Lane
}

// GoLive is the payload of broadcast.goLive.
type GoLive struct {
	BroadcastID string // UUID
	URL         string // URL of an HLS playlist
	MarketID    *protocol.MarketID
	Label       *string
}

// Call is the payload of signal.create and prediction.create.
type Call struct {
	MarketID    protocol.MarketID
	Position    protocol.Side
	PriceBps    *protocol.Bps
	Confidence  *int
	Take        *string
	MarketTitle *string

	// EventID and Signal are alternative members for MarketID and Position. They are empty after ReadPayload.
	EventID protocol.MarketID
	Signal  protocol.Side
}

// Market is the payload of market.create. The ledger checks the limits of its times; this package does not.
type Market struct {
	Question         string
	CutoffAt         time.Time
	Lane             protocol.Lane
	Description      *string
	ResolvesBy       *time.Time
	ResolutionSource *string
	InitialYesBps    *protocol.Bps
}

// Resolution is the payload of resolution.create.
type Resolution struct {
	MarketID protocol.MarketID // id of a native market
	Verdict  string            // YES, NO or INVALID
	ProofURL *string
	Reason   *string
}

// ReadPayload checks a canonical payload against the schema of its message type and decodes it. If attested is true, the
// payload must have the members that the hub adds; otherwise it must not have them. Payload has no fields for these members.
// Error: invalid_request with reason payload and the field.
func ReadPayload(t Type, canonical []byte, attested bool) (Payload, error) {
	var p Payload
	switch t {
	case ProfileUpdate:
		p = &Profile{}
	case StationCreate, StationUpdate:
		p = &Station{}
	case BroadcastCreate:
		p = &Broadcast{}
	case BroadcastGoLive:
		p = &GoLive{}
	case SignalCreate, PredictionCreate:
		p = &Call{}
	case MarketCreate:
		p = &Market{}
	case ResolutionCreate:
		p = &Resolution{}
	default:
		return nil, badMember("type", "type must be a message type, such as signal.create")
	}
	s := payloadSchemas()[schemaKey{t, attested}]
	if err := s.check(canonical); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(canonical, p); err != nil {
		return nil, fmt.Errorf("read payload of %s: %w", t, err) // cannot happen: the schema has the same types as the fields
	}
	p.normalize()
	return p, nil
}

func (p *Profile) normalize()    { plain(p.Bio) }
func (p *Station) normalize()    { plain(p.Description) }
func (p *Broadcast) normalize()  { utc(p.ScheduledFor) }
func (*GoLive) normalize()       {}
func (p *Resolution) normalize() { plain(p.Reason) }

func (p *Market) normalize() {
	plain(p.Description)
	utc(&p.CutoffAt)
	utc(p.ResolvesBy)
}

func (p *Call) normalize() {
	plain(p.Take)
	p.MarketID, p.EventID = p.MarketID+p.EventID, "" // one of both is empty
	p.Position, p.Signal = p.Position+p.Signal, ""
}

// plain replaces CR LF with LF in *text. It does nothing if text is nil.
func plain(text *string) {
	if text != nil {
		*text = protocol.PlainLines(*text)
	}
}

func utc(at *time.Time) {
	if at != nil {
		*at = at.UTC()
	}
}
